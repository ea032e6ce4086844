package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestAbortSeesEveryFigureThatItAccepts looks at what --abort-on judges while a run is in progress. Each figure that it
// accepts and the run has in the end is there within two seconds.
func TestAbortSeesEveryFigureThatItAccepts(t *testing.T) {
	for name, plan := range map[string]func(drivers.Service) workloads.Plan{
		"lock": func(s drivers.Service) workloads.Plan { return runtest.LockPlan(s, runtest.Predecessor) },
		"mix": func(s drivers.Service) workloads.Plan {
			return runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5, Keys: 10})
		},
		"open mix": func(s drivers.Service) workloads.Plan {
			p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5, Keys: 10})
			p.Open = openloop.Options{Rate: openloop.PerSecond(1000)}
			return p
		},
		"background": func(s drivers.Service) workloads.Plan {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Background = load.Background(2, 500, workloads.MixSettings{Reads: 0.5, Keys: 10})
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				p := plan(runtest.Slow(s))
				p.Duration = 3 * time.Second
				setting := results.Setting{Recipe: p.Form.Recipe, Form: p.Form.Name, Clients: p.Clients, Reads: p.Settings.Mix.Reads}
				if p.Form.Recipe == "mix" {
					setting.Mix = &results.Mix{}
				}
				if p.Open.Rate.Open() {
					setting.Open = &results.Open{Rate: p.Open.Rate.String()}
				}
				if b := p.Background; b.Clients > 0 {
					setting.Background = &results.Background{Clients: b.Clients, RatePerS: b.Rate, ReadRatio: results.ReadRatio{Asked: b.Mix.Reads}}
				}
				var live *workloads.Live
				seen := map[string]time.Duration{} // when the figure was known
				look := observer{begin: func(_ observedRun, l *workloads.Live) { live = l }, progress: func(now workloads.Progress) {
					if !now.Measuring || now.Elapsed%time.Second != 0 {
						return
					}
					record := live.SoFar()
					known := results.SoFar(setting, &record)
					for _, run := range []results.Run{known, known.AtLeast(&record)} {
						for _, f := range figure.All(run.Phases) {
							if _, is := f.RunValue(run); is && seen[f.Name] == 0 {
								seen[f.Name] = now.Elapsed
							}
						}
					}
				}}
				record, err := (&app{}).drive(t.Context(), observedRun{p, setting}, []observer{look})
				if err != nil {
					t.Fatal(err)
				}
				run, n := results.FromRecord(setting, record), 0
				planned := figure.PlanOf(run)
				for _, f := range figure.All(run.Phases) {
					_, known := f.RunValue(run)
					if known && !f.PossibleIn(planned) {
						t.Errorf("%s is known, without what it needs", f.Name)
					}
					if may := mayBeUnknown(f); !known && f.LiveIn(planned) && !may {
						t.Errorf("%s is not known, with all that it needs", f.Name)
					}
					if !f.LiveIn(planned) || !known {
						continue
					}
					n++
					if at, is := seen[f.Name]; !is || at > 2*time.Second {
						t.Errorf("%s: seen after %v, %v", f.Name, at, is)
					}
				}
				if n < 30 {
					t.Errorf("%d figures", n)
				}
			})
		})
	}
}

// mayBeUnknown reports whether it depends on what happens in a run, or on the machine, if the run has the figure.
func mayBeUnknown(f figure.Figure) bool {
	return strings.HasSuffix(f.Name, ".p99") || strings.HasSuffix(f.Name, ".p999") || f.Name == "wasted" || f.Name == "read_write_ratio" ||
		strings.HasPrefix(f.Name, "machine.") || f.Name == "generator.waiting_threads"
}

// TestAbortRefusesWhatItCannotSee checks that a condition on a figure that a run has only in the end is refused, in one line.
func TestAbortRefusesWhatItCannotSee(t *testing.T) {
	for _, f := range figure.All([]string{"acquire"}) {
		known := strings.HasPrefix(f.Name, "sessions.") || strings.HasPrefix(f.Name, "safety.") || strings.HasPrefix(f.Name, "whole.") ||
			f.Population == figure.ServerInterval || f.Name == "identities.broken" || f.Name == "watches.left" || f.Name == "return.reads" ||
			strings.HasPrefix(f.Name, "fanout.") || strings.HasPrefix(f.Name, "drain.")
		if f.Live() == known {
			t.Errorf("%s: live %v", f.Name, f.Live())
		}
	}
	row := gate.Row{Recipe: "lock", Form: "predecessor", Clients: 4, Phases: []string{"acquire"}}
	for condition, want := range map[string]string{
		"errors > 1":               "",
		"acquire.p99 > 1s":         "",
		"sessions.lost > 0":        "only when it has ended",
		"errors > 2 * errors":      "nothing to compare with",
		"rounds == 1":              "no opposite",
		"acquire.p98 > 1s":         "unknown metric",
		"safety.violations >= 1":   "only when it has ended",
		"generator.unfinished > 9": "only when it has ended",
		"generator.late > 0":       "only with arrivals at a rate",
		"server.memory > 1GiB":     "only with servers that the run starts",
		"background.reads > 1%":    "only with a background load",
	} {
		_, err := spec.Abort(condition, []gate.Row{row})
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", condition, err, want)
		}
	}
}

// TestAbortSeesATimeBeforeItIsKnown feeds intervals of a tenth of the observations that a 99th percentile needs. It is too
// long for certain when more than ten, and one in a hundred, are: in an interval, or since the window opened.
func TestAbortSeesATimeBeforeItIsKnown(t *testing.T) {
	row := gate.Row{Recipe: "mix", Form: "operations", Clients: 2, Phases: []string{"read"}}
	for _, c := range []struct {
		condition string
		slow      []int64 // of 100 in each interval
		want      int     // the interval in which it ended, from 1; 0: never
	}{
		{"read.p99 > 300ms", []int64{0, 0, 10, 50}, 4},
		{"read.p99 > 300ms", []int64{0, 5, 5, 5}, 4}, // eleven since the window opened
		{"read.p99 > 300ms", []int64{0, 5, 0, 5}, 0},
		{"read.p50 > 300ms", []int64{40, 40, 40, 51}, 4},
		{"read.p50 < 300ms", []int64{60, 60, 40}, 3},
		{"read.p99 < 300ms", []int64{0, 0, 0}, 0}, // not known
	} {
		th, err := gate.Parse(c.condition, "", []gate.Row{row})
		if err != nil {
			t.Fatal(err)
		}
		if th, err = th.Opposite(); err != nil {
			t.Fatal(err)
		}
		a, ended, n := abortConditions{conditions: []gate.Threshold{th}}, 0, 0
		o := a.following(results.Run{Recipe: "mix", Form: "operations"}, 0, func() { ended = n })
		for i, slow := range c.slow {
			n = i + 1
			times := metrics.NewDurations()
			times.RecordValues(int64(time.Second), slow)
			times.RecordValues(int64(time.Millisecond), 100-slow)
			p := workloads.Progress{Measuring: true, Elapsed: time.Duration(n) * time.Second / 4, Lap: metrics.Lap{Phase: "read", Count: 100, Times: times}}
			o.progress(p)
			o.progress(p) // agents repeat it
		}
		if ended != c.want || len(a.fired) != min(c.want, 1) {
			t.Errorf("%s, %v: ended in %d, want %d; %+v", c.condition, c.slow, ended, c.want, a.fired)
		}
	}
}

// TestAbortSeesRequestsThatAreNotAnswered feeds progress of a service that has stopped answering: no request ends, so that no
// time is known. Each time that is too long by now ends the command, in its last interval.
func TestAbortSeesRequestsThatAreNotAnswered(t *testing.T) {
	row := gate.Row{Recipe: "lock", Form: "predecessor", Clients: 4, Phases: []string{"acquire", "release"},
		Plan: figure.Plan{Background: true, BackgroundReads: true}}
	for condition, want := range map[string]time.Duration{ // 0: never
		"acquire.p99 > 300ms":          time.Second, // a pause of a garbage collector is none
		"release.p50 > 1500ms":         1750 * time.Millisecond,
		"acquire.service.max >= 2s":    2 * time.Second,
		"background.read.p999 > 300ms": time.Second,
		"acquire.p99 < 300ms":          0,
		"acquire.mean > 1ms":           0, // of the whole window
		"acquire.p99 > 1m":             0,
		"errors > 0":                   0,
	} {
		th, err := gate.Parse(condition, "", []gate.Row{row})
		if err != nil {
			t.Fatal(err)
		}
		if th, err = th.Opposite(); err != nil {
			t.Fatal(err)
		}
		ended, at := time.Duration(0), time.Duration(0)
		a := abortConditions{conditions: []gate.Threshold{th}}
		o := a.following(results.Run{Recipe: "lock", Form: "predecessor"}, 0, func() { ended = at })
		for at = 0; at <= 3*time.Second; at += 250 * time.Millisecond {
			o.progress(workloads.Progress{Measuring: true, Elapsed: 5*time.Second + at, Lap: metrics.Lap{Phase: "acquire"}, Unanswered: at})
		}
		if ended != want || len(a.fired) > 0 && !strings.Contains(a.fired[0].Why, "requests were unanswered") {
			t.Errorf("%s: ended after %v, want %v; %+v", condition, ended, want, a.fired)
		}
	}
}
