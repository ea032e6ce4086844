package openloop

import (
	"context"
	"math"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// planned returns a pacer of one process, whose window follows the warm-up and has the given length.
func planned(o Options, warmup, length time.Duration, seed uint64) *Pacer {
	return plannedPart(o, OwnArrivals{Origin: time.Now().Add(warmup), Mine: func() bool { return true }, Share: 1}, warmup, length, seed)
}

func plannedPart(o Options, part OwnArrivals, warmup, length time.Duration, seed uint64) *Pacer {
	w := metrics.NewWindow()
	w.Open(part.Origin)
	w.Close(part.Origin.Add(length))
	return New(o, w, part, warmup, length, seed)
}

// serve runs clients that take the given time for each arrival. It returns the outcomes of
// the arrivals and the response times.
func serve(t *testing.T, o Options, clients int, window time.Duration, took func(due time.Time) time.Duration) (Counts, []time.Duration) {
	t.Helper()
	p := planned(o, time.Second, window, 1)
	opens := p.window.Opens()
	var mu sync.Mutex
	var responses []time.Duration
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for ticket := p.Ticket(); ; {
				due, ok := ticket.Next(t.Context())
				if !ok {
					return
				}
				time.Sleep(took(due))
				ticket.Finish()
				mu.Lock()
				if !due.Before(opens) {
					responses = append(responses, time.Since(due))
				}
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Second + window)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	p.Drain(ctx)
	p.End()
	c := p.Counts()
	all.Wait()
	return c, responses
}

// TestOfferedIsThePlan checks that the offered rate is the requested one, and that no
// arrival is late if the service is fast enough.
func TestOfferedIsThePlan(t *testing.T) {
	for _, arrival := range Arrivals() {
		for _, rate := range []float64{100, 1000, 20_000} {
			bubble.Test(t, func(t *testing.T) {
				c, _ := serve(t, Options{Rate: PerSecond(rate), Arrival: arrival}, 64, 10*time.Second, func(time.Time) time.Duration { return 0 })
				tolerance := 0.01
				if arrival == Poisson {
					tolerance = 0.04 // 1.3 standard deviations of 1,000 arrivals; the seed is fixed
				}
				if got := float64(c.Offered) / 10; got < rate*(1-tolerance) || got > rate*(1+tolerance) {
					t.Errorf("%s: %v a second were offered, want %v", arrival, got, rate)
				}
				if c.Late+c.Skipped+c.Unfinished+c.Failed > 0 || c.Completed != c.Offered {
					t.Errorf("%s, %v a second: %+v", arrival, rate, c)
				}
			})
		}
	}
}

// TestFrozenService freezes a service for two of ten seconds. The arrivals of those two
// seconds are late, and their response times include the wait.
func TestFrozenService(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		began := time.Now()
		thaws := began.Add(6 * time.Second)
		c, responses := serve(t, Options{Rate: PerSecond(500)}, 8, 10*time.Second, func(time.Time) time.Duration {
			if now := time.Now(); now.After(began.Add(4*time.Second)) && now.Before(thaws) {
				return thaws.Sub(now)
			}
			return time.Millisecond
		})
		if c.Offered != 5000 || c.Skipped != 0 || c.Unfinished != 0 || c.Late < 950 || c.Late > 1300 {
			t.Errorf("%+v, want 5,000 offered, and about those of two seconds late", c)
		}
		slow := 0
		for _, r := range responses {
			if r > time.Second {
				slow++
			}
		}
		if len(responses) != 5000 || slow < 490 || slow > 700 {
			t.Errorf("%d of %d took more than a second, want those of one second at least", slow, len(responses))
		}
	})
}

// TestOverload checks a service that is too slow. It serves the arrivals of the warm-up
// first, and then those of the window for one more second, after which the others are skipped.
// With a limit, arrivals that wait too long are skipped.
func TestOverload(t *testing.T) {
	for limit, most := range map[time.Duration]int64{0: 21, 50 * time.Millisecond: 101} {
		bubble.Test(t, func(t *testing.T) {
			c, responses := serve(t, Options{Rate: PerSecond(100), LateLimit: limit}, 1, 10*time.Second, func(time.Time) time.Duration {
				return 100 * time.Millisecond
			})
			served := int64(len(responses))
			if c.Offered != 1000 || c.Skipped+served != 1000 || served > most || served < most-2 || c.Late < 999 {
				t.Errorf("limit %v: %+v with %d served, want 1,000 that are late, of which %d are served", limit, c, served, most)
			}
			for _, r := range responses {
				if limit > 0 && r > limit+100*time.Millisecond {
					t.Fatalf("one that was %v late was served", r-100*time.Millisecond)
				}
			}
		})
	}
}

// TestArrivalsThatWaitAtTheEndAreServed checks that arrivals which wait for a client when the window closes
// are served after it, with all of their wait in their response times, and no arrival that is due later.
func TestArrivalsThatWaitAtTheEndAreServed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ends := time.Now().Add(11 * time.Second)
		c, responses := serve(t, Options{Rate: PerSecond(100)}, 2, 10*time.Second, func(time.Time) time.Duration {
			if left := time.Until(ends); left < 500*time.Millisecond && left > 0 {
				return left
			}
			return time.Millisecond
		})
		if want := (Counts{Offered: 1000, Late: c.Late, Completed: 1000}); c != want || c.Late < 46 || c.Late > 50 || len(responses) != 1000 {
			t.Errorf("%+v and %d times, want all 1,000, of which those of the last half second were late", c, len(responses))
		}
		if longest := slices.Max(responses); longest < 490*time.Millisecond || longest > 510*time.Millisecond {
			t.Errorf("the longest took %v, want the half second", longest)
		}
	})
}

// TestWindowDecidedLater opens and closes the window while arrivals come, as for a load beside another.
// Arrivals count by when they were due, although clients have taken them before the window opened.
func TestWindowDecidedLater(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := metrics.NewWindow()
		p := New(Options{Rate: PerSecond(1)}, w, OwnArrivals{Origin: time.Now(), Mine: func() bool { return true }, Share: 1}, 0, time.Hour, 1)
		for range 3 { // each has taken an arrival ahead
			go func() {
				for ticket := p.Ticket(); ; ticket.Finish() {
					if _, ok := ticket.Next(t.Context()); !ok {
						return
					}
				}
			}()
		}
		time.Sleep(10500 * time.Millisecond)
		w.Open(time.Now())
		time.Sleep(20 * time.Second)
		w.Close(time.Now())
		p.Drain(t.Context())
		p.End()
		if want, got := (Counts{Offered: 20, Completed: 20}), p.Counts(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if mean, off := p.Expected(); mean != 20 || off > 3 {
			t.Errorf("%v±%v are expected, want 20 and little", mean, off)
		}
	})
}

// TestUnfinished checks that an arrival that a client has at the end is unfinished.
func TestUnfinished(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, _ := serve(t, Options{Rate: PerSecond(1)}, 10, 10*time.Second, func(time.Time) time.Duration { return time.Hour })
		if want := (Counts{Offered: 10, Unfinished: 10}); c != want {
			t.Errorf("%+v, want %+v", c, want)
		}
	})
}

// TestFailedArrivals checks that an arrival that a client does not complete counts as failed,
// also if the client just takes the next one, and that the outcomes add up to what was
// offered.
func TestFailedArrivals(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := planned(Options{Rate: PerSecond(1)}, 0, 9500*time.Millisecond, 1)
		ticket := p.Ticket()
		for n := 1; ; n++ {
			if _, ok := ticket.Next(t.Context()); !ok {
				break
			}
			switch n % 3 {
			case 0:
				ticket.Finish()
			case 1:
				ticket.Fail()
			} // otherwise the next arrival replaces it
			if n == 8 { // the last call of Next waits until End
				time.AfterFunc(2*time.Second, p.End)
			}
		}
		if want, got := (Counts{Offered: 9, Completed: 3, Failed: 6}), p.Counts(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestOldestUnfinished checks the age of the oldest unfinished arrival.
func TestOldestUnfinished(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := planned(Options{Rate: PerSecond(1)}, 0, time.Minute, 1)
		if age := p.Oldest(); age != 0 {
			t.Errorf("%v without any", age)
		}
		for range 3 {
			p.Ticket().Next(t.Context())
		}
		if age := p.Oldest(); age != 2*time.Second {
			t.Errorf("%v, want the 2s of the first of three", age)
		}
	})
}

// TestTimerLatenessIsNoResponseTime checks that the response time of an arrival does not
// include the lateness of its timer: it counts from when the client woke, and the lateness
// of each timer is recorded.
func TestTimerLatenessIsNoResponseTime(t *testing.T) {
	const arrivals = 50
	p := planned(Options{Rate: PerSecond(1000)}, 0, arrivals*time.Millisecond, 1)
	ticket := p.Ticket()
	woken, before := int64(0), int64(0)
	for n := 1; ; n++ {
		due, ok := ticket.Next(t.Context())
		if !ok {
			break
		}
		switch late := p.Counts().Late; {
		case late == before:
			woken++
			if !due.After(ticket.due) {
				t.Errorf("arrival %d counts from when it was due, as if its timer had not been late at all", n)
			}
		case !due.Equal(ticket.due):
			t.Errorf("arrival %d, for which no client was free, does not count from when it was due", n)
		}
		before = p.Counts().Late
		ticket.Finish()
		if n == arrivals-1 {
			p.End()
		}
	}
	if n := p.Wakes().TotalCount(); n != woken {
		t.Errorf("%d late timers noted, want %d", n, woken)
	}
}

// TestEndedEarly checks that a run that ends early has offered what was due until then, since its window ends
// with it.
func TestEndedEarly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := planned(Options{Rate: PerSecond(10)}, 0, time.Minute, 1)
		ticket := p.Ticket()
		var all sync.WaitGroup
		all.Go(func() {
			for {
				if _, ok := ticket.Next(t.Context()); !ok {
					return
				}
			}
		})
		time.Sleep(time.Second + time.Millisecond)
		p.End()
		all.Wait()
		if c := p.Counts(); c.Offered != 10 || c.Skipped+c.Unfinished+c.Late > 0 {
			t.Errorf("%+v, want 10 offered and no more", c)
		}
		time.Sleep(time.Second)
		p.window.CloseNow()
		if mean, off := p.Expected(); math.Abs(mean-10) > off {
			t.Errorf("%v arrivals are expected in the window", mean)
		}
	})
}

// TestAnArrivalIsNotLostWithItsClient interrupts a client that waits for an arrival: the next client that is
// free serves it, late, and if there is none it is skipped.
func TestAnArrivalIsNotLostWithItsClient(t *testing.T) {
	for others, want := range []Counts{{Offered: 10, Late: 10, Skipped: 10}, {Offered: 10, Late: 2, Completed: 10}} {
		bubble.Test(t, func(t *testing.T) {
			p := planned(Options{Rate: PerSecond(10)}, 0, time.Second+time.Millisecond, 1)
			ctx, interrupt := context.WithCancel(t.Context())
			for range 2 {
				go p.Ticket().Next(ctx)
			}
			synctest.Wait()
			interrupt()
			time.Sleep(250 * time.Millisecond)
			var all sync.WaitGroup
			for range others {
				ticket := p.Ticket()
				all.Go(func() {
					for {
						if _, ok := ticket.Next(t.Context()); !ok {
							return
						}
						ticket.Finish()
					}
				})
			}
			time.Sleep(time.Second)
			p.End()
			all.Wait()
			if c := p.Counts(); c != want {
				t.Errorf("%d others: %+v, want %+v", others, c, want)
			}
		})
	}
}

// BenchmarkNext measures the cost of taking an arrival that is already due: the CPU time of
// the draw, without waiting.
func BenchmarkNext(b *testing.B) {
	for _, arrival := range Arrivals() {
		b.Run(string(arrival), func(b *testing.B) {
			p := planned(Options{Rate: PerSecond(1e9), Arrival: arrival}, time.Hour, time.Hour, 1)
			p.schedule.count = p.schedule.rate.Expected(-2*time.Hour, time.Hour) // already due
			p.advance()
			ticket := p.Ticket()
			b.ReportAllocs()
			for b.Loop() {
				ticket.Next(b.Context())
			}
		})
	}
}

// BenchmarkPaced measures this process's CPU time per arrival at 20,000 arrivals a second,
// with 64 clients that do nothing. This includes waiting for the arrivals.
func BenchmarkPaced(b *testing.B) {
	var arrivals int64
	before := cpu(b)
	for b.Loop() {
		c, _ := serveFor(b, 20_000, 64, time.Second)
		arrivals += c.Offered
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(arrivals), "cpu-ns/arrival")
}

func serveFor(b *testing.B, rate float64, clients int, window time.Duration) (Counts, time.Duration) {
	p := planned(Options{Rate: PerSecond(rate)}, 0, window, 1)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			ticket := p.Ticket()
			for ok := true; ok; {
				_, ok = ticket.Next(b.Context())
			}
		})
	}
	time.Sleep(window)
	p.End()
	all.Wait()
	return p.Counts(), window
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
