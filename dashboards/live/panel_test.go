package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// Another number of clients is another stage.
func TestALevelIsAStage(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		p.Begin(of("one-node", "naive"), &herd{record: measured(100, 3)})
		p.End(of("one-node", "naive"), measured(100, 3))
		many := of("one-node", "naive")
		many.Clients = 8
		p.Expect(many)
		pass(time.Second)
		if e := v.read(t); len(e.Panels) != 1 || e.Panels[0].State != next || e.Panels[0].Clients != 8 {
			t.Errorf("%+v, want eight clients that come next", e.Panels)
		}
	})
}

// A repeated run keeps the panel and the releases of the run before it.
func TestARunIsDoneAgain(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		for range 3 {
			run := &herd{outcomes: field, record: measured(100, 3)}
			p.Begin(of("one-node", "naive"), run)
			pass(900 * time.Millisecond)
			p.End(of("one-node", "naive"), run.record)
		}
		pass(time.Second)
		if e := v.read(t); len(e.Panels) != 1 || len(e.Panels[0].Releases) != 3 || e.Panels[0].Releases[2].N != 3 {
			t.Errorf("%+v, want three releases of one form", e.Panels)
		}
	})
}

// One release per second is shown, when its outcomes are known or patience has passed.
func TestOneReleaseASecond(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		// latest returns the latest release after 20 s in which each write has the given outcomes.
		latest := func(outcomes ...fanout.Outcome) release {
			p.Begin(of("one-node", "naive"), &herd{outcomes: outcomes, record: measured(100, 3)})
			pass(20 * time.Second)
			all := v.read(t).Panels[0].Releases
			if len(all) != releasesKept {
				t.Fatalf("%d are kept", len(all))
			}
			return all[releasesKept-1]
		}
		known := latest(field...)
		if known.N < 13 || known.N > 20 {
			t.Errorf("%d releases in 20 s", known.N)
		}
		unknown := latest(fanout.Pending, fanout.Useful, fanout.NotNotified, fanout.NotNotified)
		if n := unknown.N - known.N; n < 7 || n > 20 || unknown.Words != "woke 2 of 4 clients within 0 s: 1 proceeded (typical of 7 writes)" {
			t.Errorf("%d releases whose outcomes are not known, the last %q", n, unknown.Words)
		}
		if none := latest(fanout.NotNotified, fanout.NotNotified); none.N != unknown.N {
			t.Errorf("%d releases although no client was woken", none.N-unknown.N)
		}
	})
}

// The page says that the generator keeps up only where the run has no doubt and no warning about
// processors.
func TestHealth(t *testing.T) {
	running := func(doubts, warnings []metrics.Warning) *panel {
		p := &panel{run: of("one-node", "naive"), source: &herd{}, measured: measured(100, 3)}
		p.measured.Doubts, p.measured.Warnings = doubts, warnings
		return p
	}
	over := &panel{run: of("predecessor", "recipe"), measured: measured(100, 3)}
	bound := metrics.Warning{Code: metrics.ClientBound, Numbers: metrics.Numbers{"generator_cores": 1.9, "machine_cores": 2}}
	shared := metrics.Warning{Code: metrics.Shared, Numbers: metrics.Numbers{"busy_share": 0.98, "generator_cores": 1, "machine_cores": 2, "started_cores": 0.9}}
	notWarm := metrics.Warning{Code: metrics.NotWarm}
	const boundText = "client-bound: the generator used 1.9 of 2 cores; the service may be faster"
	const sharedText = "machine 98 % busy (generator 1.0, its servers 0.9 of 2 cores): servers on their own machine may be faster"
	const keepsUp = "The load generator keeps up: the figures are the service's own."
	for name, c := range map[string]struct {
		panels []*panel
		want   []remark
	}{
		"no doubt":                {[]*panel{over}, []remark{{false, keepsUp}}},
		"a doubt":                 {[]*panel{running([]metrics.Warning{bound}, []metrics.Warning{bound})}, []remark{{true, boundText}}},
		"a warning":               {[]*panel{running(nil, []metrics.Warning{shared})}, []remark{{true, sharedText}}},
		"a warning of the warmup": {[]*panel{running(nil, []metrics.Warning{notWarm})}, []remark{{false, keepsUp}}},
		"a doubt about one of two": {[]*panel{running([]metrics.Warning{bound}, nil), over},
			[]remark{{true, "one-node: " + boundText}}},
		"a doubt about a run that is over": {[]*panel{{run: over.run, measured: metrics.Record{Duration: time.Second, Doubts: []metrics.Warning{bound}}}, running(nil, nil)},
			[]remark{{true, "predecessor: " + boundText}}},
	} {
		got := health(c.panels)
		if n := len(got); n < 2 || !slices.Equal(got[:n-1], c.want) || !strings.HasPrefix(got[n-1].Text, "It uses 0.700 of ") {
			t.Errorf("%s: %+v, want %+v and the generator's figures", name, got, c.want)
		}
	}
	if all := health([]*panel{{}}); all != nil {
		t.Errorf("%+v before the first run", all)
	}
}

// Writes are gathered for most of a second. Until there is one, the page waits.
func TestWritesAreGathered(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		run := &herd{outcomes: make([]fanout.Outcome, 4), record: measured(100, 3)}
		p.Begin(of("one-node", "naive"), run)
		pass(5 * time.Second)
		run.locked(func() {
			if run.followed != 1 || run.held != 0 {
				t.Errorf("without a write: followed %d times, held %d times", run.followed, run.held)
			}
			run.outcomes = field
		})
		pass(10 * time.Second)
		run.locked(func() {
			if run.followed < 7 || run.followed > 11 || run.held > run.followed || run.held < run.followed-1 {
				t.Errorf("in 10 s: followed %d times, held %d times", run.followed, run.held)
			}
		})
		v.read(t)
	})
}
