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
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
)

// maxSessions is the default limit of clients on a service that was given by address: a typing
// error should not bring down a service that others use.
const maxSessions = 1000

// fixedNodes is the number of nodes that a run creates besides one for each client: the namespace,
// its base with the marker beside it, and the recipe's own.
const fixedNodes = 4

// An Announcement describes what a command will do to services.
type Announcement struct {
	Scenario   string // whose runs they are, "" without a scenario file
	Rate       string
	Requests   string
	Duration   string
	faults     string // "" for none
	agents     string // among which clients are divided, "" if this process has all
	background string // "" for none
	nodes      int    // besides those that each run creates for its clients
}

// Announce prints the plan for the sources that were given by address, before the first run.
func (c *Selection) Announce(w io.Writer, sources []Source, p Announcement) {
	if c.Quiet {
		return
	}
	for _, s := range sources {
		if s.Given {
			c.writePlan(w, "stampede: planned on "+s.Name, &c.Security, p)
		}
	}
}

// WritePlan prints what --dry-run shows: the plan for all sources, also for those that a run would start.
func (c *Selection) WritePlan(w io.Writer, sources []Source, p Announcement) {
	for _, s := range sources {
		heading, security := "planned on "+s.Name, &c.Security
		if !s.Given {
			heading, security = heading+", started for the runs", &Security{}
		}
		c.writePlan(w, heading, security, p)
	}
}

// NothingStarted is the last line of --dry-run.
const NothingStarted = "dry run: nothing was started, connected to or saved"

func (c *Selection) writePlan(w io.Writer, heading string, as *Security, p Announcement) {
	if p.Scenario != "" {
		heading += ", scenario " + p.Scenario
	}
	fmt.Fprintln(w, heading)
	most := slices.Max(c.Clients)
	rows := [][]string{
		{"sessions", fmt.Sprintf("%s%s, and one for the setup", list(c.Clients), c.furtherSessions())},
		{"rate", p.Rate},
		{"requests", p.Requests},
		{"znodes", fmt.Sprintf("about %s at a time, below %s, removed at the end", units.Count(int64(most+fixedNodes+p.nodes)), c.Namespace)},
	}
	for _, row := range [][]string{{"background", p.background}, {"faults", p.faults}, {"agents", p.agents}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	rows = append(rows, []string{"duration", p.Duration}, []string{"connect as", as.summary()})
	_ = render.WriteColumns(w, "  ", rows) // nobody may be reading standard error
}

// Requests describes how many requests a round of the forms takes with the most clients, by the cost model: a
// round of a settled run, as it is counted, or one under load of clients that are divided among the groups.
func (c *Selection) Requests(forms []catalog.Choice, settings workloads.Settings, groups int, settled bool) string {
	var few, many float64
	var fewest, highest catalog.Choice
	most := max(slices.Max(c.Clients)/groups, 1)
	for _, form := range forms {
		each, known := requestsPerRound(form, settings, most, settled)
		if !known {
			continue
		}
		if fewest.Name == "" || each < few {
			few, fewest = each, form
		}
		if highest.Name == "" || each > many {
			many, highest = each, form
		}
	}
	with := " a round with " + units.CountOf(int64(most), "client")
	if groups > 1 {
		with += fmt.Sprintf(" in each of %d groups", groups)
	}
	with += ", by the cost model"
	switch {
	case fewest.Name == "":
		return "n/a: the cost model does not determine them"
	case fewest.String() == highest.String():
		return fmt.Sprintf("about %s%s", units.Rate(few), with)
	}
	return fmt.Sprintf("about %s (%v) to %s (%v)%s", units.Rate(few), fewest, units.Rate(many), highest, with)
}

// requestsPerRound returns the requests of one round: of a settled run on average, or while all clients take part.
// Where each client adds rounds, those are the requests of the rounds that the last one adds.
func requestsPerRound(form catalog.Choice, settings workloads.Settings, clients int, settled bool) (float64, bool) {
	model, ok := costmodel.ModelOf(form.Recipe, form.Name)
	params := settings.Params(clients)
	rounds, known := costmodel.Rounds(form.Recipe, params)
	if !ok || !known {
		return 0, false
	}
	requests := func(p costmodel.Params) int64 {
		e := model.Settled(p).Upper()
		return e.Reads.Value + e.Writes.Value
	}
	all := requests(params)
	if fewer := settings.Params(clients - 1); clients > 1 && !settled {
		if before, _ := costmodel.Rounds(form.Recipe, fewer); before < rounds {
			all, rounds = all-requests(fewer), rounds-before
		}
	}
	return float64(all) / float64(rounds), true
}

// list formats numbers as "2, 8 and 32", and many, as the levels that a search may need are, as "16 to 512".
func list(numbers []int) string {
	const many = 12
	if len(numbers) > many {
		return units.Count(int64(slices.Min(numbers))) + " to " + units.Count(int64(slices.Max(numbers)))
	}
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

// Announcement describes the runs of the forms, each repeated this many times at each level.
func (f *Flags) Announcement(forms []catalog.Choice, times int) Announcement {
	runs := len(f.Clients) * len(forms) * times
	settings := f.Run.Settings
	settings.Readers = f.Readers
	p := Announcement{Rate: f.Load.plan(), Requests: f.Requests(forms, settings, max(f.Run.Groups, 1), false), background: f.background.plan(), nodes: f.Mix.nodes + f.background.Mix.Keys}
	p.faults = strings.Join(lines(f.faults.schedule), "; ")
	if f.faults.nemesis > 0 {
		p.faults = strings.TrimPrefix(fmt.Sprintf("%s; random ones every %v on average", p.faults, f.faults.nemesis), "; ")
	}
	if f.Agents.Count > 0 {
		p.agents = fmt.Sprintf("%d, among which the clients are divided", f.Agents.Count)
	}
	p.Duration = f.DurationOf(runs)
	return p
}

// DurationOf says how long the given number of runs takes: "4 runs of 2s: about 8s", "4 runs of 100 rounds after 200ms".
func (f *Flags) DurationOf(runs int) string {
	if f.Run.Rounds > 0 {
		return fmt.Sprintf("%s of %s after %v", cli.Counted(runs, "run"), cli.Counted(int(f.Run.Rounds), "round"), f.Run.Warmup)
	}
	each := f.Run.Warmup + f.Run.Duration
	return fmt.Sprintf("%s of %v: about %v", cli.Counted(runs, "run"), each, time.Duration(runs)*each)
}
