package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/scenario"
	"github.com/stampede-bench/stampede/workloads/systems"
)

// systemsPage checks the page of all systems, which is generated from their table, the cost
// models, and exact counts.
func systemsPage(t *testing.T) {
	testenv.SkipIfShort(t)
	counted := countedSystems(t)
	var page strings.Builder
	page.WriteString(systemsHead)
	rows := systems.All()
	fmt.Fprintf(&page, "**%s**\n%s\n", herdsOf(rows), systemsIntroduction)
	page.WriteString("| system | form | runs on | holds for | notifications | N = 8 | N = 64 | reads | writes | form with 8 | form with 64 |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range rows {
		c := changeOf(s)
		fmt.Fprintf(&page, "| [%s](#%[1]s) | %s/%s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", s.Name, s.Recipe, s.Form, runsOn(s), s.HoldsFor(),
			c.notifications(), c.costWith(8), c.costWith(64), c.reads(), c.writes(), counted.of(t, s, 8), counted.of(t, s, 64))
	}
	page.WriteString(byNotifications(rows))
	page.WriteString(librariesSection())
	page.WriteString(recordingsSection())
	page.WriteString("\n## Each system\n")
	for _, s := range rows {
		page.WriteString(systemSection(s))
	}
	golden.Compare(t, "../../docs/systems.md", []byte(page.String()))
}

const systemsHead = `# What real systems do

Which form of a recipe well-known systems and libraries use, and what one change costs them with N members. ` + "`make docs`" + `
writes this page from the sources that were read, the cost models and exact counts.

`

const systemsIntroduction = `
One change is one member's arrival, its turn and its departure, with N−1 others present; in a group, one arrival or departure; of
a barrier, one opening (a double barrier: all enter and all leave); of names, one update; in a queue, one item for N idle consumers.
Where the order of the clients decides, the cost is between two bounds. The last two columns are the notifications of a
whole run of the form in which each of the N members takes one turn, as counted on the wire; each equals the form's model or is between its
bounds.

` + "`holds for`" + ` names the versions that were looked at: of those that were counted the library or system itself ran, in [a recording](#recordings-against-the-rows), of the
others the source was read. For versions between and after them the row is a guess. The notifications are those that the system itself causes. Reads and writes
are those of the form: where a system's source sends other calls besides, its section says so. ` + "`emulated`" + `
means that the system does not use ZooKeeper or etcd: the form does the same on a server that speaks ZooKeeper's protocol. In the
rows of etcd and go-zookeeper, the library's own code runs.

` + "```console" + `
$ stampede list --systems
$ stampede list election --systems --long
$ stampede count election --form kafka-controller,solr-overseer --clients 8,64
$ stampede run election --form kafka-controller,solr-overseer --clients 8
` + "```" + `

The scenario ` + "`systems`" + ` runs all forms that the native server's clients have, in a minute:

` + "```console parse" + `
$ stampede run -f systems
` + "```" + `

## One change with N members
`

// byNotifications returns the section of the systems in which one member can proceed, by what one change costs them.
func byNotifications(rows []systems.System) string {
	named := map[string][]string{}
	var formulas []string
	for _, s := range rows {
		if !oneProceeds(s) {
			continue
		}
		formula := changeOf(s).notifications()
		if named[formula] == nil {
			formulas = append(formulas, formula)
		}
		named[formula] = append(named[formula], s.Name)
	}
	var lines strings.Builder
	lines.WriteString("\nThe systems in which one member can proceed, by the notifications of one change:\n\n")
	for _, formula := range formulas {
		fmt.Fprintf(&lines, "- %s: %s.\n", formula, strings.Join(named[formula], ", "))
	}
	return lines.String()
}

const librariesHead = `
## Counted on the library itself

The program of each library lets N clients change one thing at a time: a holder releases when all other clients wait. Each count is what
one change adds: the difference between a run with one turn for each client and one with two, divided by the turns. With a barrier
one client more opens it. ` + "`go test -v -run LibrariesCost ./examples/observe`" + ` counts all of them with 2, 8 and 64 members, and fails if one
differs. These are two runs of it:

` + "```console parse" + `
$ stampede observe --env ZK_CONNECT={address} -- python3 examples/observe/kazoo_recipes.py lock 8 1
$ stampede observe --env ZK_CONNECT={address} -- python3 examples/observe/kazoo_recipes.py lock 8 2
` + "```" + `

| system | version | notifications | of the row | reads | of the row | writes | of the row | notifications with 2 | 8 | 64 |
|---|---|---|---|---|---|---|---|---|---|---|
`

// librariesSection returns the table of what the libraries themselves cost, and why some differ from their rows.
func librariesSection() string {
	var rows, notes strings.Builder
	for _, l := range systems.Libraries() {
		s, _ := systems.Find(l.System)
		c := changeOf(s)
		fmt.Fprintf(&rows, "| [%s](#%[1]s) | %s | %v | %s | %v | %s | %v | %s | %g | %g | %g |\n", l.System, l.Version,
			l.Notifications, c.notifications(), l.Reads, c.reads(), l.Writes, c.writes(), l.Notifications.Value(2), l.Notifications.Value(8), l.Notifications.Value(64))
		if l.Note != "" {
			fmt.Fprintf(&notes, "- %s: %s.\n", l.System, l.Note)
		}
	}
	return librariesHead + rows.String() + "\nWhere a library differs from its row:\n\n" + notes.String() + librariesFound
}

const librariesFound = `- Both recipes of etcd name a key after its session. If a session takes a second turn, its new key has the name of the one that the next
  client in line has just seen deleted. That client's watch may still stand, so the new key can notify it once more. The counts are with
  a new session for each turn.

Curator documents that ` + "`DistributedBarrier`" + ` lets its waiting clients proceed when it is removed. It does not say that the next
` + "`setBarrier`" + ` notifies them all once more: a client that is woken checks again by a read with a watch, and leaves the watch
([CURATOR-654](https://github.com/apache/curator/issues/1170), open; the commit of the row still does so). One run with two openings:

` + "```console parse" + `
$ stampede observe --env ZK_CONNECT={address} -- java examples/observe/CuratorRecipes.java barrier 9 2
` + "```" + `

` + "```" + `
  largest changes  operation  woken  waited again  reads  lost  settled  written by
  /recipe          delete         8             0      8     0  16.6 ms  127.0.0.1:37162
  /recipe          create         8             0      0     0   134 µs  127.0.0.1:37162
  /recipe          delete         8             0      8     0  4.80 ms  127.0.0.1:37162
` + "```" + `
`

const recordingsHead = `
## Recordings against the rows

Packets of the library with one server, whose notifications [another decoder](../examples/observe/corpus/README.md) has counted, while its clients
overlap. A test fails if the notifications are not within the row's bounds for these changes: an election's last turn wakes nobody, and
of clients that end one after the other fewer are left to be woken.

| system | recording | version | members | changes | with fewer | notifications | least of the row | most |
|---|---|---|---|---|---|---|---|---|
`

// recordingsSection returns the table of what was recorded of the rows.
func recordingsSection() string {
	var rows strings.Builder
	for _, s := range systems.All() {
		for _, r := range s.Recordings {
			least, most := boundsOf(s, r)
			fmt.Fprintf(&rows, "| [%s](#%[1]s) | %s | %s | %d | %d | %d | %d | %g | %g |\n", s.Name, r.Item,
				cmp.Or(r.Version, "a stand-in"), r.Members, r.Changes, r.Fewer, r.Notifications, least, most)
		}
	}
	return recordingsHead + rows.String()
}

// boundsOf returns how many notifications the row allows for a recording.
func boundsOf(s systems.System, r systems.Recording) (least, most float64) {
	c := changeOf(s)
	upper := c.Change
	if c.Most != nil {
		upper = *c.Most
	}
	return c.Notifications.Value(r.Members) * float64(r.Changes-1), upper.Notifications.Value(r.Members) * float64(r.Changes+r.Fewer)
}

// TestRecordingsAgreeWithTheRows holds each row against the independent counts of the recordings of its library.
func TestRecordingsAgreeWithTheRows(t *testing.T) {
	type item struct {
		Version string `json:"version"`
		Paths   []struct {
			Path          string `json:"path"`
			Notifications int    `json:"notifications"`
			Sessions      int    `json:"sessions"`
		} `json:"paths"`
	}
	read := func(name string) (i item) {
		text, err := os.ReadFile("../../examples/observe/corpus/" + name + "/item.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	for _, s := range systems.All() {
		for _, v := range s.Versions {
			if v.Counted && v.Instead == "" && !slices.ContainsFunc(s.Recordings, func(r systems.Recording) bool { return r.Version == v.Name }) {
				t.Errorf("%s: nothing was recorded of version %s", s.Name, v.Name)
			}
		}
		for _, r := range s.Recordings {
			i := read(r.Item)
			sum, members := 0, 0
			for _, p := range i.Paths {
				sum, members = sum+p.Notifications, max(members, p.Sessions)
			}
			if sum != r.Notifications || members != r.Members {
				t.Errorf("%s: %s has %d notifications of %d members, the row says %d of %d", s.Name, r.Item, sum, members, r.Notifications, r.Members)
			}
			if least, most := boundsOf(s, r); float64(sum) < least || float64(sum) > most {
				t.Errorf("%s: %s has %d notifications, the row allows %g to %g", s.Name, r.Item, sum, least, most)
			}
			if was := (systems.Version{Name: r.Version, Counted: true}); r.Version != "" && (i.Version != r.Version || !slices.Contains(s.Versions, was)) {
				t.Errorf("%s: %s is of version %s, and %s is not among the counted ones", s.Name, r.Item, i.Version, r.Version)
			}
		}
	}
	for _, p := range read("first/patroni-zookeeper").Paths { // why the row of Patroni does not hold for it
		if p.Path == "/service/demo/leader" {
			t.Errorf("Patroni 3.0.2 was notified of the leader's node %d times", p.Notifications)
		}
	}
}

// systemSection returns the section of one system.
func systemSection(s systems.System) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s: %s.", s.Name, s.Product, s.Does)
	if s.Differs != "" {
		fmt.Fprintf(&b, " Unlike the form %s/%s: %s.", s.Recipe, s.Form, s.Differs)
	}
	if s.Emulated {
		b.WriteString(" The system has a service of its own, so the form emulates it.")
	}
	fmt.Fprintf(&b, "\n\n- Members in practice (our estimate): %s.\n- Effect: %s\n- Holds for %s.\n", s.Members, effectOf(s), s.HoldsFor())
	for _, v := range s.Versions {
		if v.Instead != "" {
			fmt.Fprintf(&b, "- %s: %s.\n", v.Name, v.Instead)
		}
	}
	fmt.Fprintf(&b, "- Source: [%s, %s](%s), %s, commit %.7s.\n- `%s`\n", s.Source.Repository, filepath.Base(s.Source.Path), s.Source.URL(), s.Source.At, s.Source.Commit, commandOf(s))
	return b.String()
}

// effectOf says what the form's herd costs, and what the form without a herd would change.
func effectOf(s systems.System) string {
	c := changeOf(s)
	switch {
	case !oneProceeds(s):
		return "all members need to know of the change, so that it wakes all is no herd." + fewerReads(s)
	case c.Notifications.Value(64) == 0:
		return fmt.Sprintf("a change wakes no member. The members poll: %s reads for a change if each polls once, and up to an interval without a leader.", c.reads())
	case !c.wakesAll():
		return "a change wakes one member, however many there are."
	}
	form, fewest := fewestOf(s.Recipe)
	text := fmt.Sprintf("with 64 members a change sends %s notifications; in the form %s/%s it sends %g.", c.costWith(64), s.Recipe, form, fewest)
	if s.Usual > 0 {
		text += fmt.Sprintf(" With %d members, our estimate for a large installation, it sends %s: too few to matter.", s.Usual, c.costWith(s.Usual))
	} else if s.Recipe == "election" {
		text += fmt.Sprintf(" If only 3 members stood for election, and the others did not watch, it would send %s.", c.costWith(3))
	}
	return text
}

// fewerReads says how many reads a form of the group without reads after a change would save.
func fewerReads(s systems.System) string {
	least := s
	least.Form = "recursive"
	if s.Recipe != "group" || s.Form == least.Form {
		return ""
	}
	return fmt.Sprintf(" But each member lists all: with 64 members a change costs %g reads; with a recursive watch, as in group/recursive, %g.",
		changeOf(s).Reads.Value(64), changeOf(least).Reads.Value(64))
}

// fewestOf returns the herd-avoiding form of the recipe that sends the fewest notifications for
// a change with 64 members, and their number.
func fewestOf(recipe string) (form string, fewest float64) {
	for _, f := range catalog.Forms() {
		model, known := costmodel.ModelOf(f.Recipe, f.Name)
		if f.Recipe != recipe || f.Family != workloads.Recipe || !known {
			continue
		}
		params := changeSettings().Params
		change, fits := model.ChangeOf(recipe, params)
		n := change.Notifications.Value(64)
		if !fits { // one more item for one more consumer of a queue
			n = float64(model.Settled(params(64)).Notifications.Value - model.Settled(params(63)).Notifications.Value)
		}
		if form == "" || n < fewest {
			form, fewest = f.Name, n
		}
	}
	return form, fewest
}

// systemCounts are the counts of the systems' forms.
type systemCounts []results.Settled

// of returns the notifications that were counted, or their bounds.
func (c systemCounts) of(t *testing.T, s systems.System, clients int) string {
	t.Helper()
	i := slices.IndexFunc(c, func(r results.Settled) bool { return r.Recipe == s.Recipe && r.Form == s.Form && r.Clients == clients })
	if i < 0 {
		t.Fatalf("%s was not counted with %d clients", s.Name, clients)
	}
	return exact(c[i].Notifications)
}

// countedSystems counts the forms of all systems, with one command for each recipe on each
// backend, several at a time: most of the time etcd waits for its disk. It fails if a count differs
// from the model.
func countedSystems(t *testing.T) systemCounts {
	type selection struct{ backend, recipe string }
	forms := map[selection][]string{}
	for _, s := range systems.All() {
		sel := selection{backendOf(s), s.Recipe}
		if !slices.Contains(forms[sel], s.Form) {
			forms[sel] = append(forms[sel], s.Form)
		}
	}
	var running errgroup.Group
	running.SetLimit(4)
	counts := make(chan []results.Settled, len(forms))
	for sel, names := range forms {
		file := filepath.Join(t.TempDir(), "count.json")
		running.Go(func() error {
			args := []string{"count", sel.recipe, "--form", strings.Join(names, ","), "--clients", "8,64", "--no-save", "-o", "json=" + file}
			if sel.backend != "" {
				args = append(args, "--backend", sel.backend)
			}
			if out, err := exec.Command("stampede", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("stampede %q: %w: %s", args, err, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var report results.CountReport
			if err := json.Unmarshal(text, &report); err != nil {
				return err
			}
			counts <- report.Settled
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	close(counts)
	var all systemCounts
	for settled := range counts {
		all = append(all, settled...)
	}
	return all
}

// TestHerdsAreOfSystemsInWhichOneProceeds checks the page's first sentence on systems whose
// answer is known.
func TestHerdsAreOfSystemsInWhichOneProceeds(t *testing.T) {
	rows := []systems.System{
		{Recipe: "election", Form: "one-node"}, {Recipe: "election", Form: "poll"},
		{Recipe: "lock", Form: "predecessor"}, {Recipe: "barrier", Form: "watch"},
	}
	const want = "In 1 of the 3 systems in which one member can proceed, a change wakes all members."
	if got := herdsOf(rows); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestScenarioRunsAllSystems checks that the scenario systems runs the form of each system that
// the native server's clients have.
func TestScenarioRunsAllSystems(t *testing.T) {
	text, _ := scenario.Shipped("systems")
	var runs []string
	for _, word := range regexp.MustCompile(`[a-z-]+`).FindAllString(string(text), -1) {
		if s, found := systems.Find(word); found {
			runs = append(runs, s.Recipe+"/"+s.Form)
		}
	}
	for _, s := range systems.All() {
		if form := s.Recipe + "/" + s.Form; runsOn(s) != "etcd" && !slices.Contains(runs, form) {
			t.Errorf("the scenario does not run %s, the form of %s", form, s.Name)
		}
	}
}
