package live

import (
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/results"
)

// A herd is a run in which each followed write has the given outcomes for the seats.
type herd struct {
	mu        sync.Mutex // for tests that change it while the page looks
	outcomes  []fanout.Outcome
	drain     time.Duration
	record    metrics.Record
	looks     int
	following bool
	followed  int // number of calls of Follow
	held      int // number of calls of Hold
}

func (h *herd) SoFar() (r metrics.Record) { h.locked(func() { h.looks++; r = h.record }); return r }
func (h *herd) Follow()                   { h.locked(func() { h.following, h.followed = true, h.followed+1 }) }
func (h *herd) Hold()                     { h.locked(func() { h.held++ }) }
func (h *herd) Unfollow()                 { h.locked(func() { h.following = false }) }

func (h *herd) locked(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *herd) Woken() ([]fanout.Outcome, time.Duration, int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.following {
		return make([]fanout.Outcome, len(h.outcomes)), 0, 0
	}
	return h.outcomes, h.drain, 7
}

// measured returns a run of one second, in which each round caused the given number of
// notifications.
func measured(rounds, woken int64) metrics.Record {
	took := hdrhistogram.New(1, int64(time.Hour), 3)
	_ = took.RecordValues(int64(time.Millisecond), rounds)
	return metrics.Record{
		Duration: time.Second, Rounds: rounds,
		Phases:    []metrics.Phase{{Name: "handoff", Service: took, Response: took}},
		Counts:    metrics.Counts{Notifications: rounds * woken, Reads: rounds * woken, Writes: 2 * rounds, Useful: rounds, Wasted: rounds * (woken - 1)},
		Herd:      metrics.Herd{Fanout: metrics.Tally{woken: rounds}, Drain: took},
		Generator: metrics.Generator{CPUCores: 0.7, Lag: took},
		Intervals: []metrics.Interval{{P50: time.Millisecond}, {Start: 500 * time.Millisecond, P50: 2 * time.Millisecond}},
	}
}

func of(form, family string) Run {
	return Run{Duration: 2 * time.Second, Ahead: func() string { return "run 1 of 2 · about 4 s left" }, Setting: results.Setting{Recipe: "lock", Form: form, Family: family, Clients: 4,
		Backend: drivers.Info{Name: "native", URL: "native:", Server: "ZooKeeper 3.9.0"}}}
}

// field holds the outcomes of four clients after a release in the naive form.
var field = []fanout.Outcome{fanout.Wasted, fanout.Useful, fanout.Wasted, fanout.NotNotified}

// read returns the event that a viewer has not read yet.
func (v viewer) read(t *testing.T) (e event) {
	t.Helper()
	select {
	case text, more := <-v:
		if !more {
			t.Fatal("the page is over")
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "data: ")), &e); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatal("nothing to read")
	}
	return e
}

// on runs the test on a page in a bubble with its own clock.
func on(t *testing.T, test func(t *testing.T, p *Page)) {
	bubble.Test(t, func(t *testing.T) {
		p := New(func() {})
		test(t, p)
		p.Close()
	})
}

// pass lets time pass and waits until all goroutines are idle.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A run without viewers is not read, and it is no longer followed after the last viewer has
// left.
func TestARunWithoutViewersIsLeftAlone(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		run := &herd{outcomes: make([]fanout.Outcome, 4), record: measured(100, 3)}
		p.Begin(of("one-node", "naive"), run)
		pass(time.Minute)
		if run.looks+run.followed > 0 {
			t.Errorf("looked at %d times, followed %d times", run.looks, run.followed)
		}
		v := p.join()
		pass(time.Second)
		if run.looks == 0 || !run.following {
			t.Errorf("watched: looked at %d times, followed: %v", run.looks, run.following)
		}
		p.leave(v)
		pass(time.Second)
		looks := run.looks
		pass(time.Minute)
		if run.looks != looks || run.following {
			t.Errorf("left: looked at %d times more, followed: %v", run.looks-looks, run.following)
		}
	})
}

// A new viewer immediately receives the current state.
func TestANewViewerSeesTheRun(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		p.Expect(of("predecessor", "recipe"), of("one-node", "naive"))
		p.Begin(of("predecessor", "recipe"), &herd{record: measured(100, 1)})
		v := p.join()
		synctest.Wait()
		e := v.read(t)
		if e.Heading != "lock · 4 clients · ZooKeeper 3.9.0" || len(e.Finding) != 1 || e.Finding[0] != "With 4 clients a release wakes 1 in lock/predecessor." {
			t.Errorf("heading %q, finding %q", e.Heading, e.Finding)
		}
		var got []string
		for _, v := range e.Panels {
			got = append(got, v.Form+": "+v.State+": "+v.Progress)
		}
		if diff := cmp.Diff([]string{"predecessor: running: running, 1.0 s of 2 s", "one-node: next: waits for its turn"}, got); diff != "" {
			t.Errorf("panels (-want +got):\n%s", diff)
		}
		if one, none := e.Panels[0], e.Panels[1]; one.Woken != "1" || one.WokenBy != "woken by a release on average, 1 at most" ||
			none.Woken != absent || none.WokenBy != "no round has ended yet" {
			t.Errorf("%+v and %+v: want one client that a release wakes, and nothing known", one, none)
		}
		if e.Ahead != "run 1 of 2 · about 4 s left" || e.Report != nil {
			t.Errorf("%q, report %v", e.Ahead, e.Report)
		}
	})
}

// The forms are side by side although they run one after the other, and the first form's
// releases stay visible.
func TestFormsStandSideBySide(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		v := p.join()
		first := &herd{outcomes: []fanout.Outcome{0, 0, fanout.Useful, 0}, record: measured(1000, 1)}
		p.Begin(of("predecessor", "recipe"), first)
		pass(2 * time.Second)
		p.End(of("predecessor", "recipe"), first.record)
		second := &herd{outcomes: field, drain: 2 * time.Millisecond, record: measured(100, 3)}
		p.Begin(of("one-node", "naive"), second)
		pass(2 * time.Second)
		e := v.read(t)
		if first.following || len(e.Panels) != 2 || e.Panels[0].State != over || len(e.Panels[0].Releases) == 0 {
			t.Fatalf("followed: %v, panels %+v", first.following, e.Panels)
		}
		if want := "With 4 clients a release wakes 3 in the naive form and 1 in the herd-avoiding form; 2 of the 3 wait again."; e.Finding[0] != want {
			t.Errorf("finding %q, want %q", e.Finding[0], want)
		}
		got := e.Panels[1].Releases[0]
		want := release{N: 1, Cells: []int{3, 1, 2, 1, 3, 1, 0, 1}, Woken: 3, Useful: 1, Wasted: 2,
			Words: "woke 3 of 4 clients within 2.00 ms: 1 proceeded, 2 went back to waiting (typical of 7 writes)"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("release (-want +got):\n%s", diff)
		}
		var rows []string
		for _, r := range append(e.Rows, e.More...) {
			rows = append(rows, strings.TrimSpace(r.Name+": "+strings.Join(r.Values, " against ")+" "+r.Ratio))
		}
		if diff := cmp.Diff([]string{
			"rounds: 1\u202f000 /s against 100 /s 0.100×",
			"notifications a round: 1.00 against 3.00 3.00×",
			"wasted wake-ups: 0 % against 66.7 %",
			"operations: 3\u202f000 /s against 500 /s 0.167×",
			"hand-off p50: 1.00 ms against 1.00 ms 1.00×",
			"hand-off p90: 1.00 ms against 1.00 ms 1.00×",
			"notifications: 1\u202f000 /s against 300 /s 0.300×",
			"hand-off p99: 1.00 ms against n/a",
			"errors: 0 against 0",
		}, rows); diff != "" {
			t.Errorf("figures (-want +got):\n%s", diff)
		}
	})
}

// A viewer that does not read misses events, and the page does not wait for it.
func TestAViewerIsNotWaitedFor(t *testing.T) {
	on(t, func(t *testing.T, p *Page) {
		var all []viewer
		for range mostViewers {
			all = append(all, p.join())
		}
		if p.join() != nil {
			t.Error("one more has joined than may")
		}
		run := &herd{outcomes: field, record: measured(100, 3)}
		p.Begin(of("one-node", "naive"), run)
		pass(10 * time.Second)
		if run.looks < 35 {
			t.Errorf("%d looks in 10 s", run.looks)
		}
		for _, v := range all {
			if e := v.read(t); e.Panels[0].State != running {
				t.Fatalf("the latest is %+v", e)
			}
		}
	})
}

// At the end the viewers receive the report. Without viewers it is not written.
func TestTheReportIsOffered(t *testing.T) {
	for name, viewers := range map[string]int{"a viewer": 1, "no viewer": 0} {
		bubble.Test(t, func(t *testing.T) {
			p := New(func() {})
			var v viewer
			if viewers > 0 {
				v = p.join()
			}
			written := 0
			p.Offer("run-1.html", func(w io.Writer) error { written++; _, err := io.WriteString(w, "<h1>1 & 78</h1>"); return err })
			pass(time.Second)
			p.Close()
			if written != viewers {
				t.Errorf("%s: written %d times", name, written)
			}
			if viewers == 0 {
				return
			}
			if e := v.read(t); e.Report == nil || e.Report.Name != "run-1.html" || e.Report.HTML != "<h1>1 & 78</h1>" {
				t.Errorf("%s: %+v", name, e.Report)
			}
		})
	}
}

// At the end all viewers are notified, and so are viewers that join later.
func TestViewersAreNotifiedOfTheEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := New(func() {})
		v := p.join()
		pass(time.Second)
		p.Close()
		for name, v := range map[string]viewer{"viewer": v, "later viewer": p.join()} {
			if e := v.read(t); !e.Over {
				t.Errorf("%s got %+v", name, e)
			}
			if _, more := <-v; more {
				t.Errorf("%s has more to read", name)
			}
		}
	})
}

// BenchmarkLook measures one look at a run of 500 clients, whatever the number of viewers.
func BenchmarkLook(b *testing.B) {
	p := New(func() {})
	defer p.Close()
	p.join()
	run := &herd{outcomes: make([]fanout.Outcome, 500), record: measured(100_000, 3)}
	p.Begin(of("one-node", "naive"), run)
	b.ReportAllocs()
	for b.Loop() {
		p.show()
	}
}
