package document

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/incident"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/reference"
	"github.com/stampede-bench/stampede/results/units"
)

func ofFile(f results.File) Document {
	d := ofRuns(f)
	d.Heading = runHeading(f)
	if f.Interrupted {
		d.Interrupted = "Interrupted: the last run may be partial, and later runs are missing."
	}
	if d.Findings = incident.Findings(f); d.Findings == nil {
		d.Findings = runFindings(f)
	} else {
		d.Findings = append(d.Findings, violations(f.Runs)...) // if a violation is the symptom
	}
	groups := byBackend(f.Runs)
	for _, runs := range groups {
		name := runs[0].Recipe + " on " + placeName(f.Runs, runs[0].Backend)
		about := name
		if runs[0].Scenario != "" {
			about = subjectOf(runs[0]) + " on " + placeName(f.Runs, runs[0].Backend) + ": " + strings.Join(settingsOf(runs[0], nil), " · ")
		}
		percentiles := levels.ShownOf(f.Percentiles, runs)
		t := runsTable(about, runs, percentiles, nil)
		t.Leads, t.Contrast = true, contrast.Levels(runs, percentiles)
		t.Notes, t.Warnings = slices.Concat(repeated(runs), levels.Upkeep(runs)), warningsOf(runs)
		d.Tables = append(d.Tables, t)
		d.Tables = append(d.Tables, shown(recoveryTable("what was broken: "+about, runs))...)
	}
	d.Tables = append(d.Tables, shown(sideBySide(f.Runs), referenceTable(f), agentTable(f.Runs))...)
	d.note(prefixed("skipped: ", f.Skipped)...)
	d.Notes = append(d.Notes, identityNotes(f.Runs)...)
	d.note(slices.Concat(nearness(f.Runs), clockErrors(f.Runs), countCommand(f.Runs))...)
	return d
}

// ofRuns returns what the documents of runs and of sweeps have in common; the checks are those that only
// one of them has.
func ofRuns(f results.File, checks ...Check) (d Document) {
	d.begin(f.Head)
	d.Checks = checks
	for _, r := range f.Runs {
		d.service(r.Backend)
		d.set(checkOf(r.Scenario, r.Recipe, r.Form, r.Backend, r.Clients).Suite, "", r)
	}
	d.checkRuns(f)
	return d
}

// runHeading names the recipe, the backend and the duration in one line.
func runHeading(f results.File) string {
	parts := []string{"stampede run"}
	if f.Scenario != "" {
		parts = append(parts, f.Scenario)
	}
	parts = append(parts, levels.Distinct(f.Runs, func(r results.Run) string { return r.Recipe })...)
	parts = append(parts, levels.Distinct(f.Runs, func(r results.Run) string { return whereOf(r.Backend) })...)
	single := len(f.Runs) > 0 && f.Scenario == ""
	if single {
		parts = append(parts, settingsOf(f.Runs[0], nil)...)
	}
	parts = append(parts, fmt.Sprintf("seed %d", f.Seed))
	if single {
		rows := levels.Distinct(f.Runs, func(r results.Run) string { return units.Clients(r.Clients) })
		size := units.Plural(len(rows), "level") + " × " + units.Plural(len(formsOf(f.Runs)), "form")
		if most := mostRepetitions(f.Runs); most > 1 {
			size += " × " + units.Plural(most, "repetition")
		}
		parts = append(parts, size)
	}
	if f.Took > 0 {
		parts = append(parts, units.Setting(f.Took.Round(time.Second)))
	}
	return strings.Join(parts, " · ")
}

func formsOf(runs []results.Run) []string {
	return levels.Distinct(runs, func(r results.Run) string { return r.Recipe + "/" + r.Form })
}

// settingsOf returns the settings of the run that a heading names, without those that are axes of a sweep.
func settingsOf(r results.Run, axes []string) (parts []string) {
	add := func(axis, text string, given bool) {
		if given && !slices.Contains(axes, axis) {
			parts = append(parts, text)
		}
	}
	add("groups", units.Plural(r.Groups, "group"), r.Groups > 1)
	if o := r.Open; o != nil {
		add("rate", o.Rate+"/s "+o.Arrival, true)
	}
	if r.IsMix() {
		parts = append(parts, r.Mix.Describe(!slices.Contains(axes, "size")))
		add("reads", units.Share(r.ReadRatio.Asked)+" reads", true)
	} else if c := r.Reconnects; c != nil {
		add("outage", "outage "+units.Setting(c.OutageNS), true)
	} else {
		add("hold", "hold "+units.Setting(r.HoldNS), true)
	}
	if p := r.Preload; p != nil {
		parts = append(parts, "preload "+units.Count(int64(p.Nodes)))
	}
	if b := r.Background; b != nil {
		parts = append(parts, b.Describe())
	}
	if r.Faults != nil {
		parts = append(parts, units.Plural(len(r.Faults.Schedule), "fault"))
	}
	add("think", "think "+units.Setting(r.ThinkNS), r.ThinkNS > 0)
	return parts
}

// whereOf describes the backend for a heading: "native (own process, memory)".
func whereOf(b results.Backend) string {
	about := slices.DeleteFunc([]string{b.Started, b.Durability}, func(s string) bool { return s == "" || s == "unknown" })
	if b.Reads != "" && b.Reads != "local" {
		about = append(about, b.Reads+" reads")
	}
	if b.Members != "" {
		about = append(about, membersText(b))
	}
	if len(about) == 0 {
		return serverName(b)
	}
	return fmt.Sprintf("%s (%s)", serverName(b), strings.Join(about, ", "))
}

// serverName returns the name of the service: product and version, or the backend's name.
func serverName(b results.Backend) string { return cmp.Or(b.Server, b.Name) }

// askedOf returns the name of a backend, with the query of its URL.
func askedOf(b results.Backend) string {
	if _, asked, ok := strings.Cut(b.URL, "?"); ok {
		return b.Name + ":?" + asked
	}
	return b.Name
}

// distinctName returns the first of the names, or else the URL, by which the backend differs from all others
// of the runs.
func distinctName(runs []results.Run, b results.Backend, names ...func(results.Backend) string) string {
	for _, name := range names {
		same := func(r results.Run) bool { return name(r.Backend) == name(b) && !r.Backend.SameService(b) }
		if !slices.ContainsFunc(runs, same) {
			return name(b)
		}
	}
	return b.URL
}

// placeName names a backend in the title of a table.
func placeName(runs []results.Run, b results.Backend) string {
	return distinctName(runs, b, askedOf)
}

// subjectOf distinguishes the runs of a file: by scenario or recipe, or by both if the scenario does
// not have the name of the recipe.
func subjectOf(r results.Run) string {
	if r.Scenario == "" || r.Scenario == r.Recipe {
		return r.Recipe
	}
	return r.Scenario + ", " + r.Recipe
}

// byBackend groups the runs by scenario, recipe and backend, in the order of the file.
func byBackend(runs []results.Run) (groups [][]results.Run) {
	return levels.Grouped(runs, func(a, b results.Run) bool { return subjectOf(a) == subjectOf(b) && a.Backend.SameService(b.Backend) })
}

// membersText names the servers that one name stands for.
func membersText(b results.Backend) string {
	return "members " + strings.ReplaceAll(b.Members, ",", ", ")
}

// runsTable returns the numbers of the runs on one backend: a row for each number of clients and form,
// with the forms of one number of clients next to each other. If timed is not nil, it has the runs whose median times each row shows.
func runsTable(title string, runs []results.Run, shown levels.Shown, timed [][]results.Run) Table {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b results.Run) int { return cmp.Compare(a.Clients, b.Clients) })
	s := newRunTable(title, runs, shown)
	if timed != nil {
		s.timed = timed
	}
	switch {
	case runs[0].IsMix():
		mixColumns(s)
	case runs[0].Fanout != nil:
		fanoutColumns(s)
	case isStorm(runs[0]):
		stormColumns(s)
	case runs[0].Reconnects != nil:
		reconnectColumns(s)
	default:
		recipeColumns(s)
	}
	s.safety()
	return s.finished()
}

// recipeColumns adds the columns for a recipe.
func recipeColumns(s *runTable) {
	perRound := func(c Column, of func(*results.PerRound) float64) {
		s.figure(c, func(r results.Run) (float64, bool) { return levels.PerRoundOf(r, of) }, units.Rate)
	}
	s.keys("clients", true)
	open := s.rates("rounds/s")
	perRound(Column{Head: "notif", Over: "per round", Gap: 3}, func(p *results.PerRound) float64 { return p.Notifications })
	perRound(Column{Head: "reads"}, func(p *results.PerRound) float64 { return p.Reads })
	perRound(Column{Head: "writes"}, func(p *results.PerRound) float64 { return p.Writes })
	if slices.ContainsFunc(s.runs, asksMore) {
		perRound(Column{Head: "rpcs"}, func(p *results.PerRound) float64 { return p.RPCs })
	}
	tail, first := results.KeyPhase(s.runs[0].Phases), results.FirstPhase(s.runs[0])
	if open {
		s.times(levels.PhaseName(first)+" from when due", levels.Responses(first))
		s.tail("from call", levels.Calls(first))
	} else {
		s.times(levels.PhaseName(tail), levels.Responses(tail))
		if first != tail {
			s.tail(levels.PhaseName(first), levels.Responses(first))
		}
	}
	s.figure(Column{Head: "max", Over: "fan-out", Gap: 3}, largest, whole)
	if !open && !s.hasBackground() { // no room beside the offered rate or the background
		s.figure(Column{Head: "wasted", Apart: true},
			portion(func(r results.Run) (int64, int64) { return r.Herd.Wasted, r.Herd.Useful + r.Herd.Wasted }), units.Share)
	}
	backgroundColumns(s)
}

// asksMore reports whether the run's requests exceed its reads and writes by more than 1 %, because of etcd
// watches, syncs or opened sessions.
func asksMore(r results.Run) bool {
	p := r.Cost.PerRound
	return p != nil && p.RPCs > 1.01*(p.Reads+p.Writes)
}

// largest returns the largest fan-out of one write.
func largest(r results.Run) (float64, bool) {
	if r.Herd.Fanout == nil {
		return 0, true
	}
	return float64(r.Herd.Fanout.Max), true
}

// whole formats a count.
func whole(v float64) string { return units.Count(int64(math.Round(v))) }

// safety adds the column of the safety checks, summed over the repetitions.
func (s *runTable) safety() {
	c := Column{Head: "safety", Left: true, Gap: 3}
	for i, row := range s.of {
		text, verdict := safetyCell(sumOfSafety(row))
		s.Rows[i], s.spans[i] = append(s.Rows[i], text), append(s.spans[i], "")
		c.Verdicts = append(c.Verdicts, verdict)
	}
	s.Columns = append(s.Columns, c)
}

// sumOfSafety returns the numbers of the safety checks of all runs.
func sumOfSafety(runs []results.Run) (all results.Safety) {
	for _, r := range runs {
		all.Checked, all.Violations, all.BeliefOverlaps = all.Checked+r.Safety.Checked, all.Violations+r.Safety.Violations, all.BeliefOverlaps+r.Safety.BeliefOverlaps
		all.Weaker = r.Safety.Weaker
	}
	return all
}

// safetyCell formats the number of checks after "ok", or the violations found.
func safetyCell(s results.Safety) (text string, v results.Verdict) {
	text, v = "ok "+units.Count(s.Checked), results.Pass
	if s.Violations > 0 {
		text, v = "VIOLATED "+units.Count(s.Violations), results.Fail
	} else if s.Checked == 0 {
		text, v = "not checked", ""
	}
	if s.Weaker != "" {
		text += ", weaker guarantee"
	}
	if s.BeliefOverlaps > 0 {
		text += ", overlaps " + units.Count(s.BeliefOverlaps)
	}
	return text, v
}

// warningsOf returns the warnings about the runs.
func warningsOf(runs []results.Run) (lines []Warning) {
	for _, row := range levels.Repetitions(runs) {
		who := fmt.Sprintf("%s, %s", row[0].Form, units.Clients(row[0].Clients))
		for _, w := range warningsOfAll(row) {
			lines = append(lines, Warning{w.Kind, oneLine(who + ": " + w.Text)})
		}
		for _, r := range row {
			if s := r.Safety; s.BeliefOverlaps > 0 {
				refused := units.Absent
				if s.Tokens {
					refused = units.Count(s.TokensRefused)
				}
				lines = append(lines, Warning{"belief", fmt.Sprintf("%s: after a disturbance %s more than one client believed to hold; %s older tokens refused",
					who, units.Times(s.BeliefOverlaps), refused)})
			}
		}
	}
	return lines
}

// warningsOfAll returns the warnings of all repetitions, one for each kind, with the number of
// repetitions that have it.
func warningsOfAll(row []results.Run) (lines []Warning) {
	if len(row) == 1 {
		return warningsFrom(row[0].Warnings)
	}
	for _, c := range caveats(row) {
		lines = append(lines, Warning{c.Kind, fmt.Sprintf("in %d of %d repetitions: %s", len(c.of), len(row), c.Text)})
	}
	return lines
}

// A caveat is the first warning of a kind, and the runs that have warnings of this kind.
type caveat struct {
	Warning
	of []int
}

// caveats returns the kinds of warnings of the runs, in order of appearance. A run may have several of one
// kind.
func caveats(runs []results.Run) (all []caveat) {
	for i, r := range runs {
		for _, w := range warningsFrom(r.Warnings) {
			at := slices.IndexFunc(all, func(c caveat) bool { return c.Kind == w.Kind })
			if at < 0 {
				at, all = len(all), append(all, caveat{Warning: w})
			}
			if !slices.Contains(all[at].of, i) {
				all[at].of = append(all[at].of, i)
			}
		}
	}
	return all
}

// nearness says how close the runs came to the generator's ceiling: it reports the run that used the
// largest share of it. It says nothing if no ceiling is known.
func nearness(runs []results.Run) []string {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return r.Generator.CeilingPerS == 0 })
	if len(runs) == 0 {
		return nil
	}
	share := func(r results.Run) float64 { return r.Generator.RequestsPerS / r.Generator.CeilingPerS }
	nearest := slices.MaxFunc(runs, func(a, b results.Run) int { return cmp.Compare(share(a), share(b)) })
	return []string{fmt.Sprintf("generator: up to %s requests/s, %s of the %s that it makes with the client %s of a server that does nothing",
		units.Rate(nearest.Generator.RequestsPerS), units.Tenths(share(nearest)), units.Rate(nearest.Generator.CeilingPerS), nearest.Backend.Client)}
}

// clockErrors says which times begin with one agent and end with another, and how far they can be
// wrong at most.
func clockErrors(runs []results.Run) []string {
	var phases []string
	var most time.Duration
	for _, r := range runs {
		for _, phase := range r.Phases {
			if e := r.Latency[phase].ErrorNS; e > 0 {
				phases, most = append(phases, levels.PhaseName(phase)), max(most, e)
			}
		}
	}
	slices.Sort(phases)
	if phases = slices.Compact(phases); len(phases) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: from one agent to another, by two clocks: each time is known within ±%s, and percentiles below %s are n/a",
		strings.Join(phases, ", "), units.Duration(most), units.Duration(2*most))}
}

// identityNotes says in how many runs the identities of the counts hold, and which ones are broken.
// An identity holds under any schedule.
func identityNotes(runs []results.Run) []Note {
	var rows, hold, invalid int
	var broken []Note
	for _, r := range runs {
		e := r.Cost.Expected
		if e != nil && e.Invalid != "" {
			invalid++
		}
		if e == nil || len(e.Identities) == 0 {
			continue
		}
		rows++
		before := len(broken)
		for _, i := range e.Identities {
			if !i.Holds {
				broken = append(broken, Note{Text: fmt.Sprintf("IDENTITY BROKEN: %s, %s: %s gives %s and %s",
					r.Form, units.Clients(r.Clients), i.Formula, units.Count(i.Left), units.Count(i.Right)), Verdict: results.Regression})
			}
		}
		if len(broken) == before {
			hold++
		}
	}
	if rows+invalid == 0 {
		return nil
	}
	text := fmt.Sprintf("message counts add up: %d of %s", hold, units.Plural(rows+invalid, "run"))
	if invalid > 0 {
		text += fmt.Sprintf("; those of a lost agent are missing in %d", invalid)
	}
	return append([]Note{{Text: text}}, broken...)
}

// countCommand names the command that counts at rest what recipes cost under load.
func countCommand(runs []results.Run) []string {
	runs = slices.DeleteFunc(slices.Clone(runs), results.Run.IsLoad)
	if len(runs) == 0 {
		return nil
	}
	recipes := levels.Distinct(runs, func(r results.Run) string { return r.Recipe })
	clients := map[int]string{}
	for _, r := range runs {
		clients[r.Clients] = strconv.Itoa(r.Clients)
	}
	var all []string
	for _, n := range sortedKeys(clients) {
		all = append(all, clients[n])
	}
	return []string{"exact counts and growth: stampede count " + strings.Join(recipes, " ") + " --clients " + strings.Join(all, ",")}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// agentTable returns the table of the agents that the runs were divided among, each with the largest value of
// each figure in any run. A warning names those that were lost.
func agentTable(runs []results.Run) Table {
	t := Table{Title: "agents", Columns: columns(0, "<agent", "<host", "sessions", "requests/s", "CPU", "timers late p99", "clock error", "clock drift")}
	if len(runs) > 1 {
		t.Title += ": the largest value in any run"
	}
	var all []results.Agent
	for _, r := range runs {
		all = append(all, slices.DeleteFunc(slices.Clone(r.Agents), func(a results.Agent) bool { return a.Lost != nil })...)
	}
	for _, of := range levels.Grouped(all, func(a, b results.Agent) bool { return a.Name == b.Name }) {
		most := func(value func(results.Agent) float64) (most float64) {
			for _, a := range of {
				if v := value(a); math.Abs(v) > math.Abs(most) {
					most = v
				}
			}
			return most
		}
		late := most(func(a results.Agent) float64 {
			if lag := results.P99(a.Generator.Lag); lag != nil {
				return float64(*lag)
			}
			return 0
		})
		lateness := units.Absent
		if late > 0 {
			lateness = duration(late)
		}
		t.Rows = append(t.Rows, []string{
			oneLine(of[0].Name), oneLine(of[0].Host), whole(most(func(a results.Agent) float64 { return float64(a.Sessions) })),
			units.Rate(most(func(a results.Agent) float64 { return a.Generator.RequestsPerS })),
			fmt.Sprintf("%.1f of %s", most(func(a results.Agent) float64 { return a.Generator.CPUCores }), units.Plural(of[0].Processors, "core")), lateness,
			"±" + duration(most(func(a results.Agent) float64 { return float64(a.ClockErrorNS) })),
			signed("%+.1f ppm", most(func(a results.Agent) float64 { return a.ClockDriftPPM })),
		})
	}
	return t
}

// A trait is a property of a backend, and the reason why numbers of backends that differ in it are
// hard to compare.
type trait struct {
	name string
	of   func(results.Backend) string
	why  string
}

func traits() []trait {
	return []trait{
		{"durability", func(b results.Backend) string { return b.Durability }, "a write that waits for a disk takes longer than one that does not"},
		{"client", func(b results.Backend) string { return b.Client }, "part of the difference is the client libraries'"},
		{"reads", func(b results.Backend) string { return b.Reads }, "one reads what may be old, the other makes sure or waits"},
	}
}

// sideBySide returns the traits of several backends, and a warning for each in which the backends differ.
// The table is empty if there is only one backend.
func sideBySide(runs []results.Run) Table {
	var backends []results.Backend
	for _, r := range runs {
		if !slices.Contains(backends, r.Backend) {
			backends = append(backends, r.Backend)
		}
	}
	t := Table{Title: "side by side", Columns: columns(3, "<side by side")}
	if len(backends) < 2 {
		return t
	}
	for _, b := range backends {
		t.Rows = append(t.Rows, []string{b.URL})
	}
	for _, of := range traits() {
		t.add(Column{Head: of.name, Left: true, Gap: 3}, func(i int) string { return cmp.Or(of.of(backends[i]), units.Absent) })
		var values []string
		for _, b := range backends {
			if v := cmp.Or(of.of(b), units.Absent); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			text := fmt.Sprintf("not the same %s (%s): %s", of.name, strings.Join(values, ", "), of.why)
			t.Warnings = append(t.Warnings, Warning{"not-the-same-" + of.name, text})
		}
	}
	return t
}

// referenceTable returns the runs beside the file's reference: each figure, and its ratio to the first
// figure of its row. The ratios can be compared although the two rigs differ.
func referenceTable(f results.File) Table {
	r := f.Reference
	if r == nil {
		return Table{}
	}
	runs := f.Runs
	if f.Interrupted && len(runs) > 0 {
		runs = runs[:len(runs)-1] // the last run may be partial
	}
	rows := reference.Rows(r, runs)
	t := Table{Title: "beside " + r.Source, Columns: columns(0, "<"+r.Across), Notes: prefixed("not the same: ", r.Differs)}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.Label})
	}
	add := func(over string, cell func(reference.Row, int) string) {
		for i, name := range r.Columns {
			c := Column{Head: name}
			if i == 0 {
				c.Over, c.Gap = over, 4
			}
			t.add(c, func(j int) string { return cell(rows[j], i) })
		}
	}
	add(r.Figure, reference.Row.Figure)
	add("of the first", reference.Row.Share)
	return t
}
