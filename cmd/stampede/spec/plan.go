package spec

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/units"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// maxSessions is the default limit of clients on a service that was given by address: a typing
// error should not bring down a service that others use.
const maxSessions = 1000

// fixedNodes is the number of nodes that a run creates besides one for each client: the namespace,
// its base with the marker beside it, and the recipe's own.
const fixedNodes = 4

// An Announcement describes what a command will do to services that were given by address. It is printed
// before the first run.
type Announcement struct {
	Rate       string
	Duration   string
	background string // "" for none
	nodes      int    // besides those that each run creates for its clients
}

// Announce prints the plan for the sources that were given by address.
func (c *Selection) Announce(w io.Writer, sources []Source, p Announcement) {
	if c.Quiet {
		return
	}
	most := slices.Max(c.Clients)
	for _, s := range sources {
		if !s.Given {
			continue
		}
		fmt.Fprintf(w, "stampede: planned on %s\n", s.Name)
		rows := [][]string{
			{"sessions", fmt.Sprintf("%s%s, and one for the setup", list(c.Clients), c.furtherSessions())},
			{"rate", p.Rate},
			{"znodes", fmt.Sprintf("about %s at a time, below %s, removed at the end", units.Count(int64(most+fixedNodes+p.nodes)), c.Namespace)},
		}
		if p.background != "" {
			rows = append(rows, []string{"background", p.background})
		}
		rows = append(rows, []string{"duration", p.Duration}, []string{"connect as", c.Security.summary()})
		_ = render.WriteColumns(w, "  ", rows) // what is announced on standard error may get lost
	}
}

// list formats numbers as "2, 8 and 32".
func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = units.Count(int64(n))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// checkSessions rejects more sessions than this machine can have, or than a service that was given
// by address may get.
func (c *Selection) checkSessions(sources []Source, forms []catalog.Choice) error {
	most := slices.Max(c.Clients)
	for _, s := range sources {
		for _, client := range s.clientsOf(forms) {
			if err := ThisMachine().check(most, c.further, client); err != nil && !c.elsewhere {
				return err
			}
		}
		if s.Given && most+c.further > c.maxSessions {
			return cli.Flagf("clients", "%d%s: more than %d sessions on %s, which stampede did not start: allow them with --max-sessions %d",
				most, c.furtherSessions(), c.maxSessions, s.Name, most+c.further)
		}
	}
	return nil
}

// furtherSessions says how many sessions there are besides those of the clients.
func (c *Selection) furtherSessions() string {
	if c.further == 0 {
		return ""
	}
	return fmt.Sprintf(" plus %d further sessions", c.further)
}

// Announcement describes how long all runs of this number of forms take.
func (f *Flags) Announcement(forms int) Announcement {
	runs := len(f.Clients) * forms * max(f.Repeat, 1)
	p := Announcement{Rate: f.Load.plan(), background: f.background.plan(), nodes: f.Mix.nodes + f.background.Mix.Keys}
	switch {
	case f.Run.Rounds > 0:
		p.Duration = fmt.Sprintf("%s of %s after %v", cli.Counted(runs, "run"), cli.Counted(int(f.Run.Rounds), "round"), f.Run.Warmup)
	default:
		each := f.Run.Warmup + f.Run.Duration
		p.Duration = fmt.Sprintf("%s of %v: about %v", cli.Counted(runs, "run"), each, time.Duration(runs)*each)
	}
	return p
}
