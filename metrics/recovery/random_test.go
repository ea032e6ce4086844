package recovery

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// TestTrafficWithoutAFaultIsNotAccused plays random traffic, of which every second one has a fault that ends nothing.
func TestTrafficWithoutAFaultIsNotAccused(t *testing.T) {
	for seed := range uint64(1_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newScript("zookeeper")
		others(s, random)
		delays := seed%2 == 0
		if delays {
			s.at(time.Duration(random.IntN(50_000))*ms, func() { s.fault(Delayed, time.Second) })
		}
		s.play(observed)
		r := s.a.Report()
		if !delays {
			if r.Verdict != NotApplicable || r.Reason != NoFault || len(r.Outcomes) != 0 {
				t.Fatalf("seed %d: %+v", seed, r)
			}
			continue
		}
		o := r.Outcomes[0]
		if o.Partly+o.Not+o.Nodes.Duplicated+o.Repeated+o.Missed+o.GaveUp+o.Refused != 0 || o.InStep != nil ||
			o.Nodes.Back != o.Nodes.Had || o.Watches.Back != o.Watches.Had {
			t.Fatalf("seed %d: %s\n%+v", seed, o.Sentence(format), o)
		}
	}
}

// TestWhatIsForgottenIsMissing has programs forget some of what they had, each session at random, and counts it. Every
// session registers one node again that has a name of its own, and a listed change is seen by those that watch again.
func TestWhatIsForgottenIsMissing(t *testing.T) {
	for seed := range uint64(1_000) {
		random := rand.New(rand.NewPCG(seed, 2))
		s := newScript("zookeeper")
		var all []*member
		nodes, watches := map[*member][]string{}, map[*member][]string{}
		s.at(0, func() {
			all = s.members(1, 1+random.IntN(8))
			for i, m := range all {
				name := "/svc/" + string(rune('a'+i)) + "/"
				for n := range 1 + random.IntN(3) {
					nodes[m] = append(nodes[m], name+string(rune('a'+n)))
				}
				for _, w := range []string{"/app/config", "/app/shards", name + "jobs"} {
					if random.IntN(2) == 0 {
						watches[m] = append(watches[m], w)
					}
				}
			}
		})
		s.at(time.Second, func() {
			for _, m := range all {
				for _, n := range nodes[m] {
					m.own(n)
				}
				for _, w := range watches[m] {
					m.watch(w)
				}
			}
		})
		others(s, random)
		var had, hadWatches, lost, lostWatches int
		s.at(struck, func() {
			s.fault(Expired, 0, all...)
			for _, i := range random.Perm(len(all)) {
				m := all[i]
				m.cut()
				s.at(struck+time.Duration(random.IntN(3_000))*ms, func() {
					m.refused()
					m.open(0)
					for i, n := range nodes[m] {
						if had++; i > 0 && random.IntN(4) == 0 {
							lost++
						} else {
							m.own(n)
						}
					}
					for _, w := range watches[m] {
						if hadWatches++; random.IntN(4) == 0 {
							lostWatches++
						} else {
							m.watch(w)
						}
					}
				})
			}
		})
		s.play(observed)
		o := s.outcome(t)
		got := fmt.Sprint(o.Sessions, o.Replaced, o.Nodes.Had, o.Nodes.Had-o.Nodes.Back, o.Watches.Had, o.Watches.Had-o.Watches.Back)
		want := fmt.Sprint(len(all), len(all), had, lost, hadWatches, lostWatches)
		verdict := Recovers
		if lost+lostWatches > 0 {
			verdict = RecoversPartly
		}
		if got != want || o.Verdict != verdict {
			t.Fatalf("seed %d: got %s, want %s\n%s", seed, got, want, o.Sentence(format))
		}
	}
}

// TestTimesDecideNotCalls reports the faults before all messages, at their time, and after all, and the processes at once
// and late. The reports are equal.
func TestTimesDecideNotCalls(t *testing.T) {
	for _, p := range plantedPrograms() {
		var faults []Fault
		play := func(when string) Report {
			random := rand.New(rand.NewPCG(3, 3))
			s := newScript("zookeeper")
			s.tellFault = func(f Fault) {
				faults = append(faults, f)
				if when == "then" {
					s.a.Fault(f)
				}
			}
			if when == "before" {
				for _, f := range faults {
					s.a.Fault(f)
				}
			}
			s.lateOwner = when == "after"
			p.plant(s, random)
			others(s, random)
			faults = nil
			s.play(observed)
			if when == "after" {
				for _, f := range faults {
					s.a.Fault(f)
				}
			}
			return s.a.Report()
		}
		then := play("then")
		for _, when := range []string{"before", "after"} {
			if got := play(when); !reflect.DeepEqual(got, then) {
				t.Errorf("%s: faults reported %s give\n%+v, want\n%+v", p.name, when, got, then)
			}
		}
	}
}

// TestReportsOnTheWayChangeNothing calls SoFar every second.
func TestReportsOnTheWayChangeNothing(t *testing.T) {
	for _, p := range plantedPrograms() {
		var reports [2]Report
		for i := range reports {
			s := newScript("zookeeper")
			p.plant(s, rand.New(rand.NewPCG(4, 4)))
			for at := time.Second; i == 1 && at < observed; at += time.Second {
				s.at(at, func() { s.a.SoFar() })
			}
			s.play(observed)
			reports[i] = s.a.Report()
		}
		if !reflect.DeepEqual(reports[0], reports[1]) {
			t.Errorf("%s: with reports on the way\n%+v, want\n%+v", p.name, reports[1], reports[0])
		}
	}
}

// TestSoFarFollows reads the verdicts on the way of a program that comes back.
func TestSoFarFollows(t *testing.T) {
	s := newScript("zookeeper")
	m := s.begin(1, 1)[0]
	want := func(v Verdict) {
		t.Helper()
		s.pass(2 * time.Second)
		if got := s.a.SoFar().Verdict; got != v {
			t.Errorf("after %s the verdict is %q, want %q", s.since(), got, v)
		}
	}
	want(NotApplicable)
	s.expire(m)
	want(NotRecovered)
	m.open(0)
	m.own("/svc/1/m0")
	want(RecoversPartly)
	m.watch("/app/config")
	want(Recovers)
}

// TestWhatIsBeyondTheLimitsIsNotJudged makes each limit too small.
func TestWhatIsBeyondTheLimitsIsNotJudged(t *testing.T) {
	for name, shrink := range map[string]func(*limits){
		"events":   func(l *limits) { l.events = 16 },
		"sessions": func(l *limits) { l.holders = clients + 1 },
		"things":   func(l *limits) { l.things = clients + 2 },
		"begun":    func(l *limits) { l.begun = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("zookeeper")
			shrink(&s.a.limits)
			var told Fault
			s.tellFault = func(f Fault) { told = f }
			plantedPrograms()[0].plant(s, rand.New(rand.NewPCG(5, 5)))
			s.play(observed)
			s.a.Fault(told)
			o := s.outcome(t)
			if o.Not+o.Partly > 0 || o.Unjudged == 0 || o.Reason != "" && o.Reason != Beyond {
				t.Errorf("got %s, %d recovered, %d not judged", o.Sentence(format), o.Recovered, o.Unjudged)
			}
		})
	}
}

// TestOldSessionsAreForgotten opens and closes more sessions than are kept, of more clients than are kept.
func TestOldSessionsAreForgotten(t *testing.T) {
	s := newScript("zookeeper")
	s.a.limits.holders = 100
	for i := range 2_000 {
		m := s.members(i+1, 1)[0]
		m.register("/svc/m-")
		m.watch("/app/config")
		m.close()
		s.pass(time.Second)
	}
	s.a.SoFar()
	if a := s.a; a.full || len(a.holders) > 100 || len(a.numbered) > 100 || len(a.origins) > 150 || len(a.owners) > 100 || a.things > 200 {
		t.Errorf("%d sessions, %d numbers, %d clients, %d nodes and %d things are kept", len(a.holders), len(a.numbered), len(a.origins), len(a.owners), a.things)
	}
}

// TestManySessionsAreReplacedByTheirNames has more kinds of sessions than are compared with each other. Each comes back
// under its own name, in another order.
func TestManySessionsAreReplacedByTheirNames(t *testing.T) {
	const sessions = 300 // their square is more than mostCouples
	s := newScript("zookeeper")
	all := s.members(1, sessions)
	come := func(i int) {
		name := "/svc/" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		all[i].own(name)
		all[i].watch(name + "/jobs")
	}
	for i := range all {
		come(i)
	}
	s.expire(all...)
	for _, i := range rand.New(rand.NewPCG(9, 9)).Perm(sessions) {
		all[i].open(0)
		come(i)
	}
	if o := s.outcome(t); o.Recovered != sessions || o.Replaced != sessions || o.Nodes.Elsewhere != 0 {
		t.Errorf("%d of %d sessions recovered: %s", o.Recovered, sessions, o.Sentence(format))
	}
}

// TestPeaks counts connections in the second and in the tenth of a second in which most come.
func TestPeaks(t *testing.T) {
	s := newScript("zookeeper")
	m := s.members(1, 10)[0]
	s.pass(10 * time.Second)
	s.fault(Expired, 0, m)
	for _, at := range []time.Duration{0, 10, 110, 950, 3_000, 3_950, 3_960, 3_970, 4_040, 4_850, 60_000} {
		s.now = s.start.Add(10*time.Second + at*ms)
		m.fails()
	}
	got := s.outcome(t).Reconnects
	steady := 1.0
	if want := (Peak{Total: 11, Second: 5, Tenth: 3, Steady: &steady}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v a second before), want %+v", got, *got.Steady, want)
	}
}

// TestLateOwner has a process be found after the first fault has come.
func TestLateOwner(t *testing.T) {
	s := newScript("zookeeper")
	m := &member{script: s}
	m.open(0)
	m.own("/svc/a")
	s.pass(10 * time.Second)
	s.a.SoFar()
	m.tap.Owner(traffic.Process{ID: 9, Name: "late"})
	s.fault(Expired, 0, m)
	m.cut()
	s.pass(time.Second)
	m.pid = 9
	m.connect()
	m.tap.Owner(traffic.Process{ID: 9, Name: "late"})
	m.tap.Session(m.now, traffic.Session{ID: 77, Timeout: time.Second})
	m.do(drivers.Message{Op: drivers.OpCreate, Path: []byte("/svc/a"), Mode: drivers.Ephemeral})
	if o := s.outcome(t); o.Verdict != Recovers || o.Rows[0].PID != 9 || o.Rows[0].By != 77 {
		t.Errorf("got %s by %+v", o.Sentence(format), o.Rows)
	}
}

// TestCallsAtTheSameTime has a source, faults and readers at work at once, for the race detector.
func TestCallsAtTheSameTime(t *testing.T) {
	s := newScript("zookeeper")
	var calls sync.WaitGroup
	calls.Go(func() {
		for i := range 200 {
			s.a.Fault(Fault{At: s.start.Add(time.Duration(i) * 100 * ms), Kind: Disconnected})
		}
	})
	calls.Go(func() {
		for range 50 {
			s.a.SoFar()
		}
	})
	plantedPrograms()[0].plant(s, rand.New(rand.NewPCG(7, 7)))
	s.play(observed)
	calls.Wait()
	checkSums(t, s.a.Report())
	checkKept(t, s.a)
}
