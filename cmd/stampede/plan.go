package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stampede-bench/stampede/results"
)

// maxSessions is the default limit of clients on a service that was given by address: a typing
// error should not bring down a service that others use.
const maxSessions = 1000

// fixedNodes is the number of nodes that a run creates besides one for each client: the namespace,
// its base with the marker beside it, and the recipe's own.
const fixedNodes = 4

// A plan describes what a command will do to services that were given by address. It is printed
// before the first run.
type plan struct {
	rate       string
	duration   string
	background string // "" for none
	nodes      int    // besides those that each run creates for its clients
}

// announce prints the plan for the sources that were given by address.
func (c *choice) announce(a *app, sources []source, p plan) {
	if c.quiet {
		return
	}
	most := slices.Max(c.clients)
	for _, s := range sources {
		if !s.given {
			continue
		}
		fmt.Fprintf(a.err, "stampede: what is about to be done on %s\n", s.name)
		w := tabwriter.NewWriter(a.err, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "  sessions\t%s%s, and one that sets up\n", list(c.clients), c.beside())
		fmt.Fprintf(w, "  rate\t%s\n", p.rate)
		fmt.Fprintf(w, "  znodes\tabout %s at a time, below %s, removed at the end\n", results.Count(int64(most+fixedNodes+p.nodes)), c.namespace)
		if p.background != "" {
			fmt.Fprintf(w, "  background\t%s\n", p.background)
		}
		fmt.Fprintf(w, "  duration\t%s\n", p.duration)
		fmt.Fprintf(w, "  connect as\t%s\n", c.security.summary())
		w.Flush()
	}
}

// list formats numbers as "2, 8 and 32".
func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = results.Count(int64(n))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// checkSessions rejects more sessions than this machine can have, or than a service that was given
// by address may get.
func (c *choice) checkSessions(sources []source) error {
	most := slices.Max(c.clients)
	for _, s := range sources {
		if err := thisMachine().check(most, c.further, s.client); err != nil {
			return err
		}
		if s.given && most+c.further > c.maxSessions {
			return usagef("--clients %d%s: more than %d sessions on %s, which was not started for the run: if it may take them, say --max-sessions %d",
				most, c.beside(), c.maxSessions, s.name, most+c.further)
		}
	}
	return nil
}

// beside says how many sessions there are besides those of the clients.
func (c *choice) beside() string {
	if c.further == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d beside them", c.further)
}
