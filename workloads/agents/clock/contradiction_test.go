package clock

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// run adds exchanges, ten per second for a minute, until one contradicts the others. It returns when
// that was.
func run(e *Estimator, s *simulation) (at float64, err error) {
	for range 600 {
		s.now += second / 10
		if err := e.Add(s.exchange()); err != nil {
			return s.now, err
		}
	}
	return 0, nil
}

func quick() (float64, float64) { return 50 * microsecond, 50 * microsecond }

// after is a change of the offset at a moment, on top of a drift of 100 ppm.
func after(moment, change float64) func(float64) float64 {
	return func(at float64) float64 {
		if at < moment {
			return at * 1e-4
		}
		return at*1e-4 + change
	}
}

func TestContradictionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		drift  func(float64) float64
		want   error
		says   string
		latest float64 // when it must have been found, s
	}{
		{"drift above the stated", steadily(300), ErrDrift, "; a steady drift of 2", 3},
		{"drift below the stated", steadily(-300), ErrDrift, "more than a drift of 200 ppm allows", 3},
		{"slightly larger drift", steadily(210), ErrDrift, "; a steady drift of 2", 20},
		{"coordinator's clock set forward, or agent's clock suspended", after(30*second, second), ErrStep, "no steady drift below 1000 ppm explains it", 30.2},
		{"coordinator's clock set back", after(30*second, -second), ErrStep, "no steady drift below 1000 ppm explains it", 30.2},
		{"small step", after(30*second, 300*microsecond), ErrStep, "no steady drift", 30.2},
		{"small step back", after(30*second, -300*microsecond), ErrStep, "no steady drift", 30.2},
		{"drift within the stated", steadily(200), nil, "", 0},
		{"drift as large as the stated, the other way", steadily(-200), nil, "", 0},
		{"swinging drift within the stated", swinging(200), nil, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := estimator(t, 200)
			s := &simulation{offset: hour, drift: c.drift, delay: quick}
			at, err := run(e, s)
			if !errors.Is(err, c.want) || at > c.latest*second {
				t.Fatalf("%v after %.1f s, want %v after %v at most", err, at/second, c.want, c.latest)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%q, want one line with %q", err, c.says)
			}
			if _, again := e.Convert(MomentAt(1)); err != nil && again == nil {
				t.Error("it still gives estimates")
			}
		})
	}
}

// TestTwoExchangesTellADriftFromAStep has no third one to tell by, only how large the change is.
func TestTwoExchangesTellADriftFromAStep(t *testing.T) {
	for change, want := range map[float64]error{
		0: nil, 150 * microsecond: nil, 500 * microsecond: ErrDrift, -500 * microsecond: ErrDrift, 5 * millisecond: ErrStep, -5 * millisecond: ErrStep,
	} {
		e := estimator(t, 100)
		s := &simulation{offset: hour, drift: func(at float64) float64 { return change * math.Floor(at/second) }, delay: quick}
		first := e.Add(s.exchange())
		s.now = second
		if second := e.Add(s.exchange()); first != nil || !errors.Is(second, want) {
			t.Errorf("a change of %v ns in 1 s: %v, %v; want %v", change, first, second, want)
		}
	}
}

func TestImpossibleExchanges(t *testing.T) {
	at := func(sent, received, answered, returned time.Duration) Exchange {
		return Exchange{MomentAt(sent), coordinatorMoment(received), coordinatorMoment(answered), MomentAt(returned)}
	}
	for _, c := range []struct {
		name string
		x    Exchange
		says string
	}{
		{"possible", at(100, 5000, 5050, 300), ""},
		{"no delay at all", at(100, 5000, 5200, 300), ""},
		{"agent's clock backwards", at(300, 5000, 5050, 100), "agent's clock ran backwards by 200ns"},
		{"coordinator's clock backwards", at(100, 5050, 5000, 300), "coordinator's clock ran backwards by 50ns"},
		{"agent and coordinator exchanged", at(5000, 100, 300, 5050), "timestamps of agent and coordinator are exchanged"},
		{"before the start", at(-1, 5000, 5050, 300), "want 0 to"},
		{"longer than any run", at(100, 5000, longest+1, 300), "want 0 to"},
	} {
		e := estimator(t, 100)
		err := e.Add(c.x)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if again := e.Add(at(100, 5000, 5050, 300)); again != err {
			t.Errorf("%s: the next exchange gives %v, want the same error", c.name, again)
		}
	}
}

// TestHoldLongerThanTheWaitIsPossibleWithinTheDrift has a slow coordinator: it held the request for a
// second on its own clock, on that of the agent a little less.
func TestHoldLongerThanTheWaitIsPossibleWithinTheDrift(t *testing.T) {
	x := Exchange{MomentAt(0), coordinatorMoment(0), coordinatorMoment(time.Second), MomentAt(time.Second - 90*time.Microsecond)}
	if err := estimator(t, 100).Add(x); err != nil {
		t.Errorf("90 ppm: %v", err)
	}
	if err := estimator(t, 80).Add(x); !errors.Is(err, ErrImpossible) {
		t.Errorf("90 ppm, 80 stated: %v, want ErrImpossible", err)
	}
}

func TestSteadyDrift(t *testing.T) {
	at := func(moment, offset time.Duration) limit { return limit{at: MomentAt(moment), offset: offset} }
	const s = time.Second
	for _, c := range []struct {
		name           string
		uppers, lowers []limit
		least, most    PPM
		none           bool
	}{
		{"two tight exchanges", []limit{at(0, 0), at(s, 100)}, []limit{at(0, 0), at(s, 100)}, 0.1, 0.1, false},
		{"only from below", []limit{at(0, 0)}, []limit{at(s, 2000)}, 2, PPM(math.Inf(1)), false},
		{"only from above", []limit{at(s, -2000)}, []limit{at(0, 0)}, PPM(math.Inf(-1)), -2, false},
		{"a step in between", []limit{at(0, 0), at(s, 0), at(2*s, 900), at(3*s, 900)}, []limit{at(0, 0), at(s, 0), at(2*s, 900), at(3*s, 900)}, 0, 0, true},
		{"both at once", []limit{at(s, 1)}, []limit{at(s, 2)}, 0, 0, true},
	} {
		least, most := steady(c.uppers, c.lowers)
		if c.none != (least > most) || !c.none && (math.Abs(float64(least-c.least)) > 1e-9 || math.Abs(float64(most-c.most)) > 1e-9) {
			t.Errorf("%s: %v to %v, want %v to %v, none: %t", c.name, least, most, c.least, c.most, c.none)
		}
	}
}
