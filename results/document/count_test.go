package document_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func TestCountTable(t *testing.T) {
	const want = `stampede count · lock/predecessor, lock/one-node · settled

  With 8 clients one write wakes at most: predecessor 1, one-node 7.
  All 2 counts match the model.

  lock · N = 8 · ZooKeeper 3.8.0 · settled
  form          notifications   reads    writes (failed)   largest fan-out   model   server
  predecessor   7 = n           22 = r   16 = w            1 = p             equal   agrees
  one-node      28 = n          28 = r   44 (28) = w       7 = p             equal   agrees
`
	if got := textOf(t, resulttest.CountOf(resulttest.PredecessorCount(8), resulttest.OneNodeCount(8)), render.Options{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Differs reports any difference from the model, in either direction, and from the server's count;
// the row and the finding show it.
func TestCountTableShowsDifferences(t *testing.T) {
	more, other, server, unsafe := resulttest.OneNodeCount(8), resulttest.OneNodeCount(8), resulttest.OneNodeCount(8), resulttest.OneNodeCount(8)
	more.Notifications.Counted++
	more.Notifications.Server = &more.Notifications.Counted
	other.FailedWrites.Counted--
	few := int64(27)
	server.Notifications.Server = &few
	unsafe.Safety.Violations = 2
	for _, c := range []struct {
		name string
		row  results.Settled
		want []string
	}{
		{"from the model", more, []string{"1 of 1 counts do NOT match the model.", "29 ≠ 28 = n", "DIFFERS", "agrees"}},
		{"in failed writes alone", other, []string{"44 (27) = w, failed 27 ≠ 28 = f", "DIFFERS"}},
		{"from the server", server, []string{"28 = n, server 27", "DISAGREES"}},
		{"in safety", unsafe, []string{"SAFETY VIOLATED in 1 of 1: lock/one-node with 8 clients: the counts are void.", "VOID"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := textOf(t, resulttest.CountOf(c.row), render.Options{})
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
	if resulttest.OneNodeCount(8).Differs() {
		t.Error("Differs of a row that does not")
	}
}

// A count that is not determined is shown, and fitted, by its lower bound.
func TestGrowthOfABound(t *testing.T) {
	var some []results.Settled
	for _, n := range []int64{16, 32, 64} {
		row := resulttest.OneNodeCount(n)
		most := 4 * n * n
		row.Notifications.Counted, row.Notifications.Most = 3*n*n+7*n, &most
		some = append(some, row)
	}
	if got := levels.GrowthOf(some).Notifications; math.Abs(*got-1) > 0.03 {
		t.Errorf("exponent %v, want that of the bound, 1", *got)
	}
	if got := textOf(t, resulttest.CountOf(some...), render.Options{}); !strings.Contains(got, "≥ 31.5") || !strings.Contains(got, "≥ the least it can be") {
		t.Errorf("no bound in:\n%s", got)
	}
}

// Levels may come in any order, and more than once.
func TestGrowthIsShownByForm(t *testing.T) {
	got := textOf(t, resulttest.CountOf(resulttest.OneNodeCount(64), resulttest.PredecessorCount(64), resulttest.OneNodeCount(16), resulttest.PredecessorCount(16), resulttest.OneNodeCount(32), resulttest.PredecessorCount(32), resulttest.OneNodeCount(64)), render.Options{})
	for _, w := range []string{"Per round", "lock/one-node on native", "as N^1.0", "lock/predecessor on native", "flat"} {
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
		e := results.Exact{Counted: counted, Expected: &least, Most: &most, Formula: "f"}
		if got := document.New(resulttest.CountOf(results.Settled{Notifications: e})).Tables[0].Rows[0][1]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if differs := (results.Settled{Notifications: e}).Differs(); differs != (counted < least || counted > most) {
			t.Errorf("%d differs from %d to %d: %v", counted, least, most, differs)
		}
	}
}
