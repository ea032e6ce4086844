// Serverbench compares the native server with Apache ZooKeeper, the lean client with go-zookeeper,
// and stampede run mix with loops that only get. Each server is a separate process and syncs
// every write to disk before it acknowledges it. Serverbench also compares the native server with
// a floor, a server that does only what every server has to do for the same load (package floor).
// Repeated measurements are interleaved, A B C C B A. A ratio is that of the two figures beside it,
// with an interval that decides whether its goal is met.
//
// With -ensembles it compares three native servers with three ZooKeepers: operations, and the time from the
// end of a leader to the next write.
//
//	make bench-servers
//	make bench-ensembles
//	go run ./internal/serverbench -only mix
//
// Note: stampede ab does not replace it. It compares runs of stampede, and the floors, the bare
// loops, unmodified go-zookeeper, the memory of a process and the start on a snapshot are not runs;
// in a run, the load generator would be part of each figure. The table of the mix measures how
// large that part is.
package main

import (
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

	"github.com/stampede-bench/stampede/drivers/backends/roles"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/internal/suggest"
)

func main() {
	reexec.Dispatch(childRoles())
	sc := full()
	flag.BoolVar(&sc.ensembles, "ensembles", false, "compare three native servers with three ZooKeepers")
	flag.StringVar(&sc.only, "only", "", "measure one `PART`: "+strings.Join(names(parts(false)), ", ")+
		", or with -ensembles "+strings.Join(names(parts(true)), ", ")+" (default: all)")
	flag.Parse()
	if all := names(parts(sc.ensembles)); sc.only != "" && !slices.Contains(all, sc.only) {
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

// sessionsRole is the role of the child process that holds many sessions.
const sessionsRole = "serverbench-sessions"

// heap is the JVM's maximum heap for one server, as in ZooKeeper's own zkServer.sh: a million nodes
// do not fit into the heap that is enough for tests.
const heap = "-Xmx1000m"

// childRoles returns the roles in which this program starts itself as a child process.
func childRoles() map[string]reexec.Role {
	all := roles.All()
	all[sessionsRole], all[floor.Role] = holdSessions, floor.Run
	all["zookeeper"] = cluster.InPlace(func(ctx context.Context, p cluster.Place, announce func(string)) error {
		if len(p.Members) == 1 {
			os.Setenv("_JAVA_OPTIONS", heap) // takes precedence over the command line
		}
		return zookeeper.RunMember(ctx, p, announce)
	})
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

// parts returns the parts of the comparison of single servers, or of ensembles of three.
func parts(ensembles bool) []part {
	if ensembles {
		return []part{
			{"throughput", "operations of ensembles", throughput},
			{"steps", "one set at a time, step by step", steps},
			{"failover", "the end of a leader", failover},
			{"elections", "elections under full load", elections},
		}
	}
	return []part{
		{"operations", "operations", operations},
		{"fanout", "a write that many watch", fanout},
		{"sessions", "many sessions", sessions},
		{"nodes", "many nodes", nodes},
		{"clients", "clients", clients},
		{"mix", "stampede run mix", mix},
	}
}

func names(parts []part) (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

// measure runs the parts one after the other, so that they do not disturb each other.
func measure(ctx context.Context, b *bench, progress io.Writer) (r report, err error) {
	for _, part := range parts(b.ensembles) {
		if b.only != "" && b.only != part.name {
			continue
		}
		fmt.Fprintf(progress, "measuring %s\n", part.title)
		rows, err := part.rows(ctx, b)
		if err := errors.Join(err, b.stop()); err != nil {
			return r, fmt.Errorf("%s: %w", part.title, err)
		}
		r.rows = append(r.rows, rows...)
	}
	r.scale, r.busy, r.server = b.scale, b.busy, b.release
	return r, nil
}
