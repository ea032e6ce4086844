package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/internal/suggest"
)

func main() {
	reexec.Dispatch(roles())
	sc := full()
	flag.BoolVar(&sc.ensembles, "ensembles", false, "compare three native servers with three ZooKeepers")
	flag.StringVar(&sc.only, "only", "", "measure one `PART`: "+strings.Join(names(parts()), ", ")+
		", or with -ensembles "+strings.Join(names(ensembleParts()), ", ")+" (default: all)")
	flag.Parse()
	if all := names(sc.parts()); sc.only != "" && !slices.Contains(all, sc.only) {
		fmt.Fprintln(os.Stderr, "serverbench:", suggest.Unknown("part", sc.only, all))
		os.Exit(2)
	}
	// A load generator's garbage collection takes processor time from the servers.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, sc, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "serverbench:", err)
		os.Exit(1)
	}
}

// The roles of child processes: one runs a server that is another program, one holds sessions.
const (
	commandRole  = "serverbench-command"
	sessionsRole = "serverbench-sessions"
)

// roles returns the roles in which this program starts itself as a child process.
func roles() map[string]reexec.Role {
	all := backends.Roles()
	all[commandRole], all[sessionsRole], all[floor.Role] = runCommand, holdSessions, floor.Run
	return all
}

// run measures everything and writes the tables to out. It writes one line about each step to
// progress.
func run(ctx context.Context, sc scale, out, progress io.Writer) (err error) {
	b, err := open(ctx, sc)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	r, err := measure(ctx, b, progress)
	if err != nil {
		return err
	}
	return r.write(out)
}

// A part measures rows of the tables.
type part struct {
	name, title string
	rows        func(context.Context, *bench) ([]row, error)
}

// The tables of a report.
const (
	ofServers = iota
	ofFloors
	ofClients
	ofGenerator
)

func parts() []part {
	return []part{
		{"operations", "operations", operations},
		{"fanout", "a write that many watch", fanout},
		{"sessions", "many sessions", sessions},
		{"nodes", "many nodes", nodes},
		{"clients", "clients", clients},
		{"mix", "stampede run mix", generator},
	}
}

// parts returns the parts of the comparison that the scale chooses.
func (sc scale) parts() []part {
	if sc.ensembles {
		return ensembleParts()
	}
	return parts()
}

func names(parts []part) (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

// measure runs the parts one after the other, so that they do not disturb each other.
func measure(ctx context.Context, b *bench, progress io.Writer) (r report, err error) {
	r.scale, r.busy = b.scale, b.busy
	tables := []table{{left: "native", right: "ZooKeeper"}, {left: "native", right: "floor"}, {left: "lean client", right: "go-zookeeper"},
		{left: "mix", right: "bare loop"}}
	for _, part := range b.parts() {
		if b.only != "" && b.only != part.name {
			continue
		}
		fmt.Fprintf(progress, "measuring %s\n", part.title)
		rows, err := part.rows(ctx, b)
		if err := errors.Join(err, b.stop()); err != nil {
			return r, fmt.Errorf("%s: %w", part.title, err)
		}
		for _, row := range rows {
			tables[row.of].rows = append(tables[row.of].rows, row)
		}
	}
	r.server = cmp.Or(b.release, "ZooKeeper")
	r.tables = slices.DeleteFunc(tables, func(t table) bool { return len(t.rows) == 0 })
	return r, nil
}
