package document_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func TestAboutAndHeadline(t *testing.T) {
	other := resulttest.Sample{Form: "watch", Family: "recipe", Clients: 1000, Rounds: 900, Notif: 1, Reads: 3, Writes: 2, Handoff: 1, Acquire: 1, Fanout: 1, Wasted: 0}.Run(resulttest.Native())
	other.Recipe = "barrier"
	violated := resulttest.Herding(resulttest.Native())[2:]
	violated[1].Safety.Violations, violated[1].Safety.Checked = 3, 3050
	for _, c := range []struct {
		f               results.File
		about, headline string
	}{
		{resulttest.FileOf(), "no run", "Nothing was measured: no run was begun."},
		{resulttest.FileOf(resulttest.Herding(resulttest.Native())...), "lock: predecessor, one-node · native: · 2, 128 clients",
			"With 128 clients a release wakes 99 in the naive form and 1 in the herd-avoiding form; 98 of the 99 wait again."},
		{resulttest.FileOf(append(resulttest.Herding(resulttest.Native())[2:], other)...),
			"lock: predecessor, one-node; barrier: watch · native: · 128, 1\u202f000 clients",
			"lock: With 128 clients a release wakes 99 in the naive form and 1 in the herd-avoiding form; 98 of the 99 wait again."},
		{resulttest.FileOf(violated...), "lock: predecessor, one-node · native: · 128 clients",
			"SAFETY VIOLATED: lock/one-node with 128 clients violated safety 3 times in 3\u202f050 checks; the numbers are void."},
	} {
		if got := levels.Contents(c.f); got != c.about {
			t.Errorf("about %q, want %q", got, c.about)
		}
		if got := document.New(c.f).Headline(); got != c.headline {
			t.Errorf("headline %q, want %q", got, c.headline)
		}
	}
}
