package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
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
			run := &herd{fates: field, record: measured(100, 3)}
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

// One release per second is shown, when its fates are known or patience has passed.
func TestOneReleaseASecond(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		// latest returns the latest release after 20 s in which each write has the given fates.
		latest := func(fates ...metrics.Fate) release {
			p.Begin(of("one-node", "naive"), &herd{fates: fates, record: measured(100, 3)})
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
		unknown := latest(metrics.Awake, metrics.Useful, metrics.Asleep, metrics.Asleep)
		if n := unknown.N - known.N; n < 7 || n > 20 || unknown.Words != "woke 2 of 4 within 0 s; 1 went on" {
			t.Errorf("%d releases whose fates are not known, the last %q", n, unknown.Words)
		}
		if none := latest(metrics.Asleep, metrics.Asleep); none.N != unknown.N {
			t.Errorf("%d releases though nobody was woken", none.N-unknown.N)
		}
	})
}

// The page shows a doubt about the generator, and also that there is none.
func TestHealth(t *testing.T) {
	good := &panel{measured: measured(100, 3)}
	bad := &panel{measured: measured(100, 3), source: &herd{}}
	bad.measured.Doubts = []metrics.Warning{{Code: metrics.Starved, Text: "generator starved"}}
	if all := health([]*panel{good}); len(all) != 2 || all[0].Doubt || !strings.HasPrefix(all[1].Text, "It uses 0.700 of ") {
		t.Errorf("%+v", all)
	}
	if all := health([]*panel{bad, good}); len(all) != 2 || all[0] != (remark{true, "generator starved"}) {
		t.Errorf("%+v, want the doubt about what goes on", all)
	}
	if all := health(nil); all != nil {
		t.Errorf("%+v of nothing", all)
	}
}

// A long run has at most mostPoints points, each of whole intervals.
func TestLongTimeLines(t *testing.T) {
	var r metrics.Record
	for i := range 1000 {
		r.Intervals = append(r.Intervals, metrics.Interval{Start: time.Duration(i) * 250 * time.Millisecond, Notifications: 25, Writes: 50})
	}
	r.Duration = 250*time.Second + time.Millisecond
	told, asked := along(r, false)
	if len(told) > mostPoints+1 || len(told) < mostPoints/2 || len(asked) != len(told) {
		t.Fatalf("%d and %d points", len(told), len(asked))
	}
	for i := range told {
		if told[i] < 99 || told[i] > 100 || asked[i] < 199 || asked[i] > 200 {
			t.Errorf("point %d: %d notifications/s and %d operations/s, want 100 and 200", i, told[i], asked[i])
		}
	}
}
