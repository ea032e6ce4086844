package clock

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestTrueOffsetIsWithinTheError makes 1000 estimates under each model of delays. The drift is as large as
// stated. Each must contain the true offset, and have the error that the best exchange promises.
func TestTrueOffsetIsWithinTheError(t *testing.T) {
	for model := range delays(nil) {
		t.Run(model, func(t *testing.T) {
			if got, want := judgeAll(t, model, rates, same), (judgement{estimates: 1000}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestTheJudgementCanFail changes the estimates: their sign, and their errors.
func TestTheJudgementCanFail(t *testing.T) {
	negated := judgeAll(t, "symmetric", rates, func(o Offset) Offset { return Offset{-o.Value, o.Error} })
	if negated.wrong != negated.estimates {
		t.Errorf("%d of %d estimates of the wrong sign are wrong, want all", negated.wrong, negated.estimates)
	}
	small := judgeAll(t, "slow there", rates, func(o Offset) Offset { return Offset{o.Value, o.Error * 9 / 10} })
	if small.wrong < small.estimates/4 {
		t.Errorf("%d of %d estimates of too small an error are wrong, want a quarter at least", small.wrong, small.estimates)
	}
	large := judgeAll(t, "symmetric", rates, func(o Offset) Offset { return Offset{o.Value, 2*o.Error + rounded} })
	if large.wide == 0 {
		t.Error("no estimate of twice the error is too wide")
	}
}

// TestADriftAboveTheStatedGivesWrongEstimates shows why the drift must be stated: with one exchange nothing
// contradicts it.
func TestADriftAboveTheStatedGivesWrongEstimates(t *testing.T) {
	s := &simulation{offset: hour, drift: steadily(500), delay: func() (float64, float64) { return 50 * microsecond, 50 * microsecond }}
	e := estimator(t, 100)
	if err := e.Add(s.exchange()); err != nil {
		t.Fatal(err)
	}
	o, err := e.Offset(MomentAt(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if contains(o, s.trueOffset(60*second)) {
		t.Error("the true offset is within the error, though the drift is five times the stated one")
	}
}

// TestAnExchangeNeverWidens checks at many moments that the interval after an exchange lies within the one
// before, but for a nanosecond of rounding.
func TestAnExchangeNeverWidens(t *testing.T) {
	for model, delay := range delays(rand.New(rand.NewPCG(2, 2))) {
		s := &simulation{offset: hour, drift: swinging(100), delay: delay}
		e := estimator(t, 100)
		before := map[Moment]Interval{}
		for range 200 {
			s.now += second
			if err := e.Add(s.exchange()); err != nil {
				t.Fatal(model, err)
			}
			for at := time.Duration(0); at < 250*time.Second; at += 5 * time.Second {
				m := MomentAt(at)
				after, err := e.Convert(m)
				if err != nil {
					t.Fatal(err)
				}
				if was, known := before[m]; known && (after.Earliest.Sub(was.Earliest) < -1 || after.Latest.Sub(was.Latest) > 1) {
					t.Fatalf("%s: %v to %v became %v to %v", model, was.Earliest, was.Latest, after.Earliest, after.Latest)
				}
				before[m] = after
			}
		}
	}
}

// TestTheOrderDoesNotMatter adds the same exchanges shuffled.
func TestTheOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := &simulation{offset: hour, drift: steadily(-80), delay: delays(r)["heavy tails"]}
	e, all := collected(t, s, r, 100, 300)
	shuffled := estimator(t, 100)
	for _, i := range r.Perm(len(all)) {
		if err := shuffled.Add(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		m := MomentAt(time.Duration(r.Float64() * s.now))
		a, _ := e.Offset(m)
		b, _ := shuffled.Offset(m)
		if (a.Value-b.Value).Abs() > 2 || (a.Error-b.Error).Abs() > 2 {
			t.Fatalf("at %v: %+v in order, %+v shuffled", m, a, b)
		}
	}
}

// TestLimitsAreBounded adds more exchanges than are kept.
func TestLimitsAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	s := &simulation{offset: hour, drift: steadily(-30), delay: delays(r)["jitter"]}
	e := estimator(t, 200)
	for range 5 * maxLimits / 2 {
		s.now += 2 * second
		if err := e.Add(s.exchange()); err != nil {
			t.Fatal(err)
		}
		if n := max(len(e.upper.all), len(e.lower.all)); n > maxLimits {
			t.Fatalf("%d limits are kept, want at most %d", n, maxLimits)
		}
	}
	if n := len(e.upper.all); n < maxLimits/4 {
		t.Errorf("%d limits are kept, want at least a quarter of %d", n, maxLimits)
	}
	for range 1000 {
		m := MomentAt(time.Duration(r.Float64() * s.now))
		if o, err := e.Offset(m); err != nil || !contains(o, s.trueOffset(float64(m.SinceStart()))) || o.Error > 5*time.Millisecond {
			t.Fatalf("at %v: %+v, %v", m, o, err)
		}
	}
}

func TestDriftIsEstimated(t *testing.T) {
	for model, delay := range delays(rand.New(rand.NewPCG(5, 5))) {
		for _, rate := range rates {
			for _, drift := range []func(float64) float64{steadily(rate), swinging(rate)} {
				s := &simulation{offset: hour, drift: drift, delay: delay}
				e := estimator(t, 200)
				for range 1000 {
					s.now += second / 10
					if err := e.Add(s.exchange()); err != nil {
						t.Fatal(err)
					}
				}
				d, err := e.Drift()
				if err != nil {
					t.Fatal(err)
				}
				from, to := float64(d.From.SinceStart()), float64(d.To.SinceStart())
				truth := (s.trueOffset(to) - s.trueOffset(from)) / (to - from) * 1e6
				if math.Abs(float64(d.Mean)-truth) > float64(d.Error)+0.001 {
					t.Errorf("%s: drift %v ±%v ppm from %v to %v, want %v", model, d.Mean, d.Error, d.From, d.To, truth)
				}
				if from != second/10 || to < s.now-1 {
					t.Errorf("%s: from %v to %v, want from the first exchange to the last, %v", model, from, to, s.now)
				}
				// Both ends are known within 300 µs under these two models, 100 s apart.
				if (model == "symmetric" || model == "jitter") && d.Error > 3 {
					t.Errorf("%s: ±%v ppm, want ±3 at most", model, d.Error)
				}
			}
		}
	}
}

// TestDriftOfOneExchangeIsAtMostTheStated has nothing to estimate it from.
func TestDriftOfOneExchangeIsAtMostTheStated(t *testing.T) {
	e := estimator(t, 70)
	if _, err := e.Drift(); !errors.Is(err, ErrNoExchange) {
		t.Errorf("without an exchange: %v, want ErrNoExchange", err)
	}
	if err := e.Add(Exchange{MomentAt(5), coordinatorMoment(9), coordinatorMoment(9), MomentAt(5)}); err != nil {
		t.Fatal(err)
	}
	if d, err := e.Drift(); err != nil || d != (Drift{0, 70, MomentAt(5), MomentAt(5)}) {
		t.Errorf("got %+v, %v; want 0 ±70 ppm", d, err)
	}
}

func TestEstimatesNeedAnExchange(t *testing.T) {
	e := estimator(t, 100)
	if _, err := e.Convert(MomentAt(1)); !errors.Is(err, ErrNoExchange) {
		t.Errorf("At: %v, want ErrNoExchange", err)
	}
	if _, err := e.Offset(MomentAt(1)); !errors.Is(err, ErrNoExchange) {
		t.Errorf("Offset: %v, want ErrNoExchange", err)
	}
}

func TestMomentsOutOfRangeAreErrors(t *testing.T) {
	e := estimator(t, 100)
	if err := e.Add(Exchange{MomentAt(1), coordinatorMoment(1), coordinatorMoment(1), MomentAt(1)}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Moment{MomentAt(-1), MomentAt(longest + 1)} {
		if _, err := e.Convert(m); err == nil {
			t.Errorf("%v was converted", m)
		}
	}
}

func TestInvalidMaximumDrifts(t *testing.T) {
	for _, drift := range []PPM{-1, 100_001, PPM(math.NaN()), PPM(math.Inf(1))} {
		if _, err := NewEstimator(drift); err == nil {
			t.Errorf("%v ppm was accepted", float64(drift))
		}
	}
}

// losing loses every second exchange.
type losing struct {
	of    Exchanger
	asked int
}

func (l *losing) Exchange(ctx context.Context) (Exchange, error) {
	if l.asked++; l.asked%2 == 0 {
		return Exchange{}, errors.New("lost")
	}
	return l.of.Exchange(ctx)
}

// TestCollectAddsExchanges checks how many exchanges are done in 10 s, and that lost ones count.
func TestCollectAddsExchanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &simulation{offset: hour, drift: steadily(0), delay: func() (float64, float64) { return 1, 1 }}
		e := estimator(t, 100)
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		lost, err := e.Collect(ctx, &losing{of: s}, time.Second)
		if lost != 5 || err != nil || e.recent.n != 5 {
			t.Errorf("%d lost, %d added, %v; want 5, 5 and no error", lost, e.recent.n, err)
		}
	})
}

// TestCollectEndsAtAContradiction steps the coordinator's clock.
func TestCollectEndsAtAContradiction(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		asked := 0
		s := &simulation{offset: hour, drift: steadily(0)}
		s.delay = func() (float64, float64) {
			if asked++; asked == 6 {
				s.offset += second
			}
			return 1, 1
		}
		e := estimator(t, 100)
		start := time.Now()
		lost, err := e.Collect(t.Context(), s, time.Second)
		if took := time.Since(start); !errors.Is(err, ErrStep) || lost != 0 || took != 5*time.Second {
			t.Errorf("%v after %v, %d lost; want ErrStep after 5s, none lost", err, took, lost)
		}
	})
}

// TestEstimatorIsSafeForGoroutines is for the race detector.
func TestEstimatorIsSafeForGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	s := &simulation{offset: hour, drift: steadily(10), delay: delays(r)["symmetric"]}
	e, all := collected(t, s, r, 100, 50)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, x := range all {
				_ = e.Add(x)
				_, _ = e.Convert(x.Sent)
				_, _ = e.Drift()
			}
		})
	}
	group.Wait()
	if _, err := e.Convert(MomentAt(1)); err != nil {
		t.Error(err)
	}
}
