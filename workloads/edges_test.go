package workloads_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// The service of these tests takes replyTime for each request and stops for stopTime once.
const (
	replyTime  = 10 * time.Millisecond
	stopTime   = 400 * time.Millisecond
	edgeWindow = 2 * time.Second
)

// edges are when a service stops, counted from the opening of the window.
func edges() map[string]time.Duration {
	return map[string]time.Duration{
		"before the window": -900 * time.Millisecond, "across its opening": -200 * time.Millisecond, "inside it": time.Second,
		"across its end": edgeWindow - 200*time.Millisecond, "after it": edgeWindow + 600*time.Millisecond,
	}
}

// An edgeRun is a run whose window opens when await, if set, has returned.
type edgeRun struct {
	workloads.Plan
	await func(context.Context)
}

func (e edgeRun) run(t *testing.T) (*metrics.Record, error) {
	if e.await == nil {
		return workloads.Run(t.Context(), e.Plan)
	}
	return workloads.RunAfter(t.Context(), e.Plan, e.await)
}

func (e edgeRun) ran(t *testing.T) *metrics.Record {
	t.Helper()
	r, err := e.run(t)
	if err != nil {
		t.Fatal(err)
	}
	wantSafe(t, r)
	return r
}

// edgePlan returns a plan of the form. An open loop tells the relay when its window opens by reading the
// counters of the server before it starts, and a closed loop by awaiting its window.
func edgePlan(s drivers.Service, r *relay, form workloads.Form, clients int, rate float64, stops *time.Duration) edgeRun {
	p := edgeRun{Plan: workloads.Plan{Service: s, Form: form, Clients: clients, Warmup: 1005 * time.Millisecond, Duration: edgeWindow, Seed: 1,
		Settings: workloads.Settings{Mix: workloads.MixSettings{Reads: 1, Keys: 10}}}}
	opensIn := func(d time.Duration) {
		if stops != nil {
			r.disturb(time.Now().Add(d+*stops), stopTime)
		}
	}
	if rate > 0 {
		p.Open = openloop.Options{Rate: openloop.PerSecond(rate)}
		r.whenAsked(func() { opensIn(p.Warmup) })
		return p
	}
	p.await = func(ctx context.Context) {
		const ahead = 1004 * time.Millisecond
		opensIn(ahead)
		workloads.Sleep(ctx, ahead)
	}
	return p
}

func formOf(t *testing.T, name string) workloads.Form {
	t.Helper()
	for _, f := range catalog.Forms() {
		if f.String() == name {
			return f
		}
	}
	t.Fatalf("there is no form %s", name)
	return workloads.Form{}
}

// served returns the response times that the arrivals of a window must have: those of a queue with so many
// servers, which serve each arrival in replyTime, except that no service ends while the service stops.
func served(servers int, rate float64, warmup time.Duration, stops *time.Duration) (all []time.Duration) {
	free := slices.Repeat([]time.Duration{-warmup}, servers)
	gap := time.Duration(float64(time.Second) / rate)
	for due := -warmup + gap; due < edgeWindow; due += gap {
		slices.Sort(free)
		ends := max(due, free[0]) + replyTime
		if stops != nil && ends >= *stops && ends < *stops+stopTime {
			ends = *stops + stopTime
		}
		free[0] = ends
		if due >= 0 {
			all = append(all, ends-due)
		}
	}
	slices.Sort(all)
	return all
}

// near reports whether two times are equal to the precision of a histogram and a few microseconds.
func near(a, b time.Duration) bool {
	return (a - b).Abs() <= max(a, b)/500+10*time.Microsecond
}

// TestMixAtTheEdges stops the service around the edges of the window of reads at a rate. Each arrival of the
// window must have the time that the queue gives it, wherever the stop lies, and however long the server
// takes to tell its counters.
func TestMixAtTheEdges(t *testing.T) {
	for _, words := range []time.Duration{0, time.Second} {
		for name, stops := range edges() {
			inRelay(t, replyTime, words, func(t *testing.T, s drivers.Service, r *relay) {
				rec := edgePlan(s, r, formOf(t, "mix/operations"), 8, 100, &stops).ran(t)
				want := served(8, 100, 1005*time.Millisecond, &stops)
				g, got := rec.Generator, rec.Phases[0].Response
				if g.Offered != 200 || g.Completed != 200 || len(want) != 200 || got.TotalCount() != 200 || rec.Duration != edgeWindow {
					t.Errorf("%s: %+v and %d times in %v, want 200 arrivals and times in 2s", name, g, got.TotalCount(), rec.Duration)
				}
				for _, percentile := range []float64{50, 90, 95, 100} {
					has := time.Duration(got.ValueAtQuantile(percentile))
					if must := want[int(percentile*2)-1]; !near(has, must) {
						t.Errorf("%s: percentile %v is %v, want %v", name, percentile, has, must)
					}
				}
			})
		}
	}
}

// TestSaturatedMix offers more than a client can do from the beginning of the warm-up. The times are those
// of the arrivals that were due in the window, all of which waited for those of the warm-up.
func TestSaturatedMix(t *testing.T) {
	inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, r *relay) {
		rec := edgePlan(s, r, formOf(t, "mix/operations"), 1, 200, nil).ran(t)
		want := served(1, 200, 1005*time.Millisecond, nil)
		got := rec.Phases[0].Response
		if least, most := time.Duration(got.Min()), time.Duration(got.Max()); !near(least, want[0]) || !near(most, want[len(want)-1]) {
			t.Errorf("times from %v to %v, want %v to %v", least, most, want[0], want[len(want)-1])
		}
		if g := rec.Generator; g.Offered != 400 || g.Completed != 400 || got.TotalCount() != 400 || rec.Rounds < 199 || rec.Rounds > 201 {
			t.Errorf("%+v, %d times and %d rounds, want 400 arrivals, their times, and the 200 rounds that end in the window", g, got.TotalCount(), rec.Rounds)
		}
	})
}

// TestClosedMixAtTheEdges does the same in a closed loop: operations belong to the window in which they end.
func TestClosedMixAtTheEdges(t *testing.T) {
	for name, c := range map[string]struct {
		stopped time.Duration // within the window
		longest time.Duration
		open    time.Duration // the age of the operations in progress at the end
	}{
		"before the window": {0, replyTime, replyTime}, "across its opening": {200 * time.Millisecond, stopTime, replyTime},
		"inside it":      {stopTime, stopTime, replyTime},
		"across its end": {200 * time.Millisecond, replyTime, 200 * time.Millisecond}, "after it": {0, replyTime, replyTime},
	} {
		inRelay(t, replyTime, time.Second, func(t *testing.T, s drivers.Service, r *relay) {
			const clients = 4
			stops := edges()[name]
			rec := edgePlan(s, r, formOf(t, "mix/operations"), clients, 0, &stops).ran(t)
			times, want := rec.Phases[0].Service, clients*int64((edgeWindow-c.stopped)/replyTime)
			if rec.Rounds < want-clients || rec.Rounds > want+clients || times.TotalCount() != rec.Rounds || rec.Duration != edgeWindow {
				t.Errorf("%s: %d rounds and %d times in %v, want %d±%d in 2s", name, rec.Rounds, times.TotalCount(), rec.Duration, want, clients)
			}
			within := func(what string, d, most time.Duration) {
				if d < most-replyTime || d > most+replyTime {
					t.Errorf("%s: %s %v, want %v±%v", name, what, d, most, replyTime)
				}
			}
			within("the longest took", time.Duration(times.Max()), c.longest)
			within("the oldest at the end took", rec.Generator.Oldest, c.open)
		})
	}
}

// TestRecipesAtTheEdges stops the service around the edges of the window of other loads, in both loops. In a
// closed loop the rounds are those of an undisturbed run but for the time in which the service stopped. In
// an open loop each arrival of the window has its times, and the longest is that of the first arrival that
// found the service stopped.
func TestRecipesAtTheEdges(t *testing.T) {
	for _, form := range []string{"lock/predecessor", "fanout/one-shot", "sessions/connect"} {
		t.Run(form, func(t *testing.T) {
			for _, rate := range []float64{0, 4} {
				var calm *metrics.Record
				run := func(name string, stops *time.Duration) {
					const reply = replyTime / 5
					inRelay(t, reply, time.Second, func(t *testing.T, s drivers.Service, r *relay) {
						// What a client does after it has connected must not end in the same instant as a request of one that was
						// connected before: which came first would be chance, and with it the number of storms.
						r.first = reply / 2
						p := edgePlan(s, r, formOf(t, form), 3, rate, stops)
						p.Settings.Hold = 5 * time.Millisecond
						rec := p.ran(t)
						if stops == nil {
							calm = rec
							return
						}
						checkEdge(t, fmt.Sprintf("%v a second, %s", rate, name), rec, calm, *stops)
					})
				}
				run("", nil)
				for name, stops := range edges() {
					run(name, &stops)
				}
			}
		})
	}
}

// wholeTurn is longer than a client of TestRecipesAtTheEdges needs for an arrival, with the hold and the
// release.
const wholeTurn = 50 * time.Millisecond

func checkEdge(t *testing.T, name string, r, calm *metrics.Record, stops time.Duration) {
	t.Helper()
	ends := stops + stopTime
	inside := max(min(ends, edgeWindow)-max(stops, 0), 0)
	if r.Generator.Offered == 0 {
		want := float64(calm.Rounds) * float64(edgeWindow-inside) / float64(edgeWindow)
		if float64(r.Rounds) < want-3 || float64(r.Rounds) > want+3 || r.Untimed != 0 {
			t.Errorf("%s: %d rounds, %d without times; want %.1f±3", name, r.Rounds, r.Untimed, want)
		}
		return
	}
	if g := r.Generator; g.Offered != 8 || g.Completed != 8 || r.Untimed != 0 {
		t.Errorf("%s: %+v, %d without times; want 8 arrivals", name, g, r.Untimed)
	}
	longest := func(r *metrics.Record) (d time.Duration) {
		for _, p := range r.Phases {
			d = max(d, time.Duration(p.Response.Max()))
		}
		return d
	}
	usual := longest(calm)
	least, most := usual, usual // arrivals are due at 245, 495, … ms
	for due := 245 * time.Millisecond; due < edgeWindow; due += 250 * time.Millisecond {
		if due >= stops && due < ends { // all of its work has to wait
			least = max(least, ends-due)
		}
		if due+wholeTurn >= stops && due < ends {
			most = max(most, ends-due+2*usual)
		}
	}
	if got := longest(r); got < least-least/500 || got > most+most/500 {
		t.Errorf("%s: the longest time is %v, want %v to %v", name, got, least, most)
	}
}

// TestDroppedConnectionsAtTheEdges closes all connections around the edges of the window and refuses new
// ones for a while. Every arrival of the window is served and timed.
func TestDroppedConnectionsAtTheEdges(t *testing.T) {
	for name, at := range edges() {
		inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, r *relay) {
			p := edgePlan(s, r, formOf(t, "mix/operations"), 8, 100, nil)
			r.whenAsked(func() { time.AfterFunc(p.Warmup+at, func() { r.drop(200 * time.Millisecond) }) })
			rec := p.ran(t)
			g, times := rec.Generator, rec.Phases[0].Response
			if g.Offered != 200 || g.Completed != 200 || times.TotalCount() != 200 {
				t.Errorf("%s: %+v and %d times, want 200 of each", name, g, times.TotalCount())
			}
			hit := at > -200*time.Millisecond && at < edgeWindow
			if longest := time.Duration(times.Max()); (longest > 190*time.Millisecond) != hit && name != "across its opening" {
				t.Errorf("%s: the longest time is %v", name, longest)
			}
		})
	}
}

// TestBackgroundHasTheWindowOfTheRecipe runs a background at a rate beside a recipe on a server that takes a
// second to tell its counters: what is offered is the rate times the window.
func TestBackgroundHasTheWindowOfTheRecipe(t *testing.T) {
	inRelay(t, replyTime/5, time.Second, func(t *testing.T, s drivers.Service, r *relay) {
		p := edgePlan(s, r, formOf(t, "lock/predecessor"), 3, 0, nil)
		p.await, p.Ramp = nil, 500*time.Millisecond
		p.Background = load.Background(4, 100, workloads.MixSettings{Reads: 1, Keys: 10})
		rec := p.ran(t)
		b := rec.Background
		times := func(h *hdrhistogram.Histogram) int64 { return h.TotalCount() }(b.Phases[0].Response)
		if g := b.Generator; g.Offered < 199 || g.Offered > 201 || g.Completed != g.Offered || times != g.Offered || b.Duration != rec.Duration {
			t.Errorf("%+v and %d times in %v, want 200 arrivals and times in the %v of the recipe", b.Generator, times, b.Duration, rec.Duration)
		}
	})
}

// TestOneRound measures a single round: its time and its messages are those of that round.
func TestOneRound(t *testing.T) {
	for _, form := range []string{"mix/operations", "lock/predecessor"} {
		inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, r *relay) {
			p := edgePlan(s, r, formOf(t, form), 1, 0, nil)
			p.await, p.Duration, p.Rounds = nil, 0, 1
			rec := p.ran(t)
			requests := rec.Counts.Reads + rec.Counts.Writes
			if want := rec.Whole.Reads + rec.Whole.Writes; rec.Rounds != 1 || requests == 0 || requests*rec.WholeRounds != want {
				t.Errorf("%s: %d rounds with %d requests, want 1 of %d rounds with %d in all", form, rec.Rounds, requests, rec.WholeRounds, want)
			}
			if rec.Duration < time.Duration(requests)*replyTime || rec.Duration > time.Duration(requests+1)*replyTime {
				t.Errorf("%s: a round with %d requests took %v", form, requests, rec.Duration)
			}
		})
	}
}
