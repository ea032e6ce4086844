package results

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// counted returns a row whose counts match the model.
func counted(form string, clients int, notifications, reads, writes, failed, largest int64) Settled {
	exact := func(n int64, formula string) Exact {
		return Exact{Counted: n, Expected: &n, Formula: formula, Server: &n}
	}
	s := Settled{
		Recipe: "lock", Form: form, Clients: clients, Rounds: int64(clients), Backend: Backend{Name: "native", URL: "native:", Server: "ZooKeeper 3.8.0"},
		Notifications: exact(notifications, "n"), Reads: exact(reads, "r"), Writes: exact(writes, "w"),
		FailedWrites: exact(failed, "f"), LargestFanout: exact(largest, "p"),
		Safety: Safety{Checked: int64(clients)},
	}
	s.FailedWrites.Server = nil
	return s
}

func oneNode(n int64) Settled {
	return counted("one-node", int(n), n*(n-1)/2, n*(n-1)/2, n*(n+3)/2, n*(n-1)/2, n-1)
}

func predecessor(n int64) Settled {
	return counted("predecessor", int(n), n-1, 3*n-2, 2*n, 0, 1)
}

func report(rows ...Settled) CountReport {
	r := NewCount(Tool{})
	r.Settled = rows
	return r
}

func shown(t *testing.T, r CountReport) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteTable(&b, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCountTable(t *testing.T) {
	const want = `
  With 8 clients one write wakes at most: predecessor 1, one-node 7.
  All 2 counts are what the model says.

  lock · N = 8 · ZooKeeper 3.8.0 · settled
  form          notifications   reads    writes (failed)   largest fan-out   model   server
  predecessor   7 = n           22 = r   16 = w            1 = p             equal   agrees
  one-node      28 = n          28 = r   44 (28) = w       7 = p             equal   agrees

`
	if got := shown(t, report(predecessor(8), oneNode(8))); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Differs reports any difference from the model, in either direction, and from the server's count;
// the row and the finding show it.
func TestCountTableShowsDifferences(t *testing.T) {
	more, other, server, unsafe := oneNode(8), oneNode(8), oneNode(8), oneNode(8)
	more.Notifications.Counted++
	more.Notifications.Server = &more.Notifications.Counted
	other.FailedWrites.Counted--
	few := int64(27)
	server.Notifications.Server = &few
	unsafe.Safety.Violations = 2
	for _, c := range []struct {
		name string
		row  Settled
		want []string
	}{
		{"from the model", more, []string{"1 of 1 counts are NOT what the model says.", "29 ≠ 28 = n", "DIFFERS", "agrees"}},
		{"in failed writes alone", other, []string{"44 (27) = w, failed 27 ≠ 28 = f", "DIFFERS"}},
		{"from the server", server, []string{"28 = n, server 27", "DISAGREES"}},
		{"in safety", unsafe, []string{"SAFETY VIOLATED in 1 of 1: the counts are void."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(t, report(c.row))
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in:\n%s", w, got)
				}
			}
			if differs := c.row.Differs(); differs != (c.name != "in safety") {
				t.Errorf("Differs says %v", differs)
			}
		})
	}
	if oneNode(8).Differs() {
		t.Error("Differs of a row that does not")
	}
}

func TestGrowth(t *testing.T) {
	levels := func(row func(int64) Settled) (all []Settled) {
		for _, n := range []int64{16, 32, 64, 128} {
			all = append(all, row(n))
		}
		return all
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 0.03 {
			t.Errorf("%s: exponent %v, want %v", what, got, want)
		}
	}
	flat := GrowthOf(levels(predecessor))
	near("notifications of the recipe", flat.Notifications, 0)
	near("operations of the recipe", flat.Operations, 0)
	herd := GrowthOf(levels(oneNode))
	near("notifications of the naive form", herd.Notifications, 1)
	near("operations of the naive form", herd.Operations, 1)
	if g := GrowthOf(levels(func(n int64) Settled { return counted("poll", int(n), 0, n, n, 0, 0) })); g.Notifications != nil {
		t.Errorf("no notifications grow as N^%v", *g.Notifications)
	}
	if g := GrowthOf(levels(oneNode)[:2]); g != nil {
		t.Error("two levels are too few for a fit")
	}
}

// If all clients take part in each round, more clients do not mean more rounds.
func TestGrowthOfOneRoundForAll(t *testing.T) {
	var barrier, commit []Settled
	for _, n := range []int64{4, 8, 16, 64} {
		one := counted("watch", int(n), n, 2*n, 1, 0, n)
		one.Rounds = 1
		barrier = append(barrier, one)
		one = counted("all-watch-all", int(n), n*n, 2*n*n, n, 0, n)
		one.Rounds = 1
		commit = append(commit, one)
	}
	for want, levels := range map[float64][]Settled{1: barrier, 2: commit} {
		if got := GrowthOf(levels).Notifications; got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("notifications grow with exponent %v, want %v", got, want)
		}
	}
}

// A count that is not determined is shown, and fitted, by its lower bound.
func TestGrowthOfABound(t *testing.T) {
	var levels []Settled
	for _, n := range []int64{16, 32, 64} {
		row := oneNode(n)
		most := 4 * n * n
		row.Notifications.Counted, row.Notifications.Most = 3*n*n+7*n, &most
		levels = append(levels, row)
	}
	if got := GrowthOf(levels).Notifications; math.Abs(*got-1) > 0.03 {
		t.Errorf("exponent %v, want that of the bound, 1", *got)
	}
	if got := shown(t, report(levels...)); !strings.Contains(got, "≥ 31.5") || !strings.Contains(got, "≥ the least it can be") {
		t.Errorf("no bound in:\n%s", got)
	}
}

// Levels may come in any order, and more than once.
func TestGrowthIsShownByForm(t *testing.T) {
	got := shown(t, report(oneNode(64), predecessor(64), oneNode(16), predecessor(16), oneNode(32), predecessor(32), oneNode(64)))
	for _, w := range []string{"per round", "lock/one-node on native", "as N^1.0", "lock/predecessor on native", "flat"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in:\n%s", w, got)
		}
	}
}

// A count that is not determined even at rest is correct between its bounds.
func TestCountBetweenBounds(t *testing.T) {
	least, most := int64(36), int64(57)
	for counted, want := range map[int64]string{
		35: "35 ≠ 36 to 57 = f", 36: "36 = f", 57: "57 = f", 58: "58 ≠ 36 to 57 = f",
	} {
		e := Exact{Counted: counted, Expected: &least, Most: &most, Formula: "f"}
		if got := e.text(""); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if differs := (Settled{Notifications: e}).Differs(); differs != (counted < least || counted > most) {
			t.Errorf("%d differs from %d to %d: %v", counted, least, most, differs)
		}
	}
}
