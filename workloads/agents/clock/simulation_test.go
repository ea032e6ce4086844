package clock

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A simulation is an agent and a coordinator. Time is what the agent's clock shows, in ns; the
// coordinator's clock is a function of it, so that the true offset is known at each moment.
type simulation struct {
	offset float64                  // at time 0
	drift  func(at float64) float64 // change of the offset since time 0
	delay  func() (there, back float64)
	now    float64
}

const (
	microsecond = 1e3
	millisecond = 1e6
	second      = 1e9
	hour        = 3600 * second
)

// steadily is a drift that stays the same.
func steadily(rate PPM) func(float64) float64 {
	return func(at float64) float64 { return at * float64(rate) * 1e-6 }
}

// swinging is a drift that swings between rate and -rate, with a period of a minute.
func swinging(rate PPM) func(float64) float64 {
	const turn = 2 * math.Pi / (60 * second)
	return func(at float64) float64 { return float64(rate) * 1e-6 * math.Sin(at*turn) / turn }
}

func (s *simulation) trueOffset(at float64) float64 { return s.offset + s.drift(at) }

func (s *simulation) agent() Moment { return MomentAt(time.Duration(s.now)) }

func (s *simulation) coordinator() CoordinatorMoment {
	return coordinatorMoment(time.Duration(math.Floor(s.now + s.trueOffset(s.now))))
}

// exchange does an exchange now.
func (s *simulation) exchange() (x Exchange) {
	there, back := s.delay()
	x.Sent = s.agent()
	s.now += there
	x.Received = s.coordinator()
	s.now += 3 * microsecond
	x.Answered = s.coordinator()
	s.now += back
	x.Returned = s.agent()
	return x
}

// Exchange makes the simulation an Exchanger.
func (s *simulation) Exchange(context.Context) (Exchange, error) { return s.exchange(), nil }

// delays returns the models of how long packets take.
func delays(r *rand.Rand) map[string]func() (there, back float64) {
	burst := 0
	pareto := func() float64 { return 40 * microsecond * math.Pow(1-r.Float64(), -1/1.1) }
	return map[string]func() (there, back float64){
		"symmetric": func() (float64, float64) { return 80 * microsecond, 80 * microsecond },
		"jitter": func() (float64, float64) {
			return (50 + 50*r.ExpFloat64()) * microsecond, (50 + 50*r.ExpFloat64()) * microsecond
		},
		"slow there":   func() (float64, float64) { return 2 * millisecond, 5 * microsecond },
		"slow back":    func() (float64, float64) { return 5 * microsecond, (2 + r.ExpFloat64()) * millisecond },
		"heavy tails":  func() (float64, float64) { return pareto(), pareto() },
		"nothing back": func() (float64, float64) { return 100 * microsecond, 0 },
		"bursts": func() (float64, float64) {
			if burst--; burst < -20 {
				burst = r.IntN(20)
			}
			if burst >= 0 {
				return 60 * r.Float64() * millisecond, 30 * microsecond
			}
			return 40 * microsecond, 30 * microsecond
		},
	}
}

// estimator returns an estimator with this maximum drift.
func estimator(t testing.TB, most PPM) *Estimator {
	t.Helper()
	e, err := NewEstimator(most)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// collected returns an estimator with exchanges that follow each other after pauses of 0 to 2 s, and the
// exchanges.
func collected(t testing.TB, s *simulation, r *rand.Rand, most PPM, exchanges int) (*Estimator, []Exchange) {
	t.Helper()
	e := estimator(t, most)
	var all []Exchange
	for range exchanges {
		s.now += 2 * second * r.Float64()
		all = append(all, s.exchange())
		if err := e.Add(all[len(all)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return e, all
}

// contains reports whether the true offset lies within the error of the estimate.
func contains(o Offset, truth float64) bool {
	return math.Abs(float64(o.Value)-truth) <= float64(o.Error)
}

// rounded is the error from rounding that a bound may have, in ns.
const rounded = 4

// promised returns the error that each exchange alone promises, the smallest of all: half of its round
// trip, plus the drift times its age.
func promised(all []Exchange, m Moment, most PPM) float64 {
	least := math.Inf(1)
	for _, x := range all {
		age := (m.Sub(x.Sent).Abs() + m.Sub(x.Returned).Abs()) / 2
		least = min(least, float64(x.RoundTrip())/2+float64(most)*1e-6*float64(age))
	}
	return least
}

// Offset is the coordinator's clock minus the agent's clock, at one moment. The true offset differs
// from Value by at most Error.
type Offset struct{ Value, Error time.Duration }

// Offset returns the offset that the conversion of the moment implies.
func (e *Estimator) Offset(m Moment) (Offset, error) {
	i, err := e.Convert(m)
	return Offset{i.Middle().since - m.since, (i.Latest.Sub(i.Earliest) + 1) / 2}, err
}

// judgement counts estimates.
type judgement struct{ estimates, wrong, wide int }

// judge makes estimates of a simulation at random moments, from before the first exchange to after the
// last, and checks each. The estimates are changed by alter.
func judge(t testing.TB, s *simulation, r *rand.Rand, most PPM, alter func(Offset) Offset) (j judgement) {
	e, all := collected(t, s, r, most, 1+r.IntN(60))
	for range 25 {
		m := MomentAt(time.Duration(r.Float64() * (s.now + 10*second)))
		o, err := e.Offset(m)
		if err != nil {
			t.Fatal(err)
		}
		o = alter(o)
		j.estimates++
		if !contains(o, s.trueOffset(float64(m.SinceStart()))) {
			j.wrong++
		}
		if float64(o.Error) > promised(all, m, most)+rounded {
			j.wide++
		}
	}
	return j
}

// judgeAll makes 1000 estimates under one model of delays, with several drifts and offsets.
func judgeAll(t testing.TB, model string, rates []PPM, alter func(Offset) Offset) (j judgement) {
	r := rand.New(rand.NewPCG(1, uint64(len(model))))
	delay := delays(r)[model]
	for n := range 40 {
		most := rates[n%len(rates)]
		drift := steadily(most)
		if n%8 >= 4 {
			drift = swinging(most)
		}
		s := &simulation{offset: (1 + 10*r.Float64()) * hour, drift: drift, delay: delay}
		if n%3 == 0 { // the agent's clock is ahead
			s.now = 20 * hour
			s.offset = -19 * r.Float64() * hour
		}
		one := judge(t, s, r, PPM(math.Abs(float64(most))), alter)
		j = judgement{j.estimates + one.estimates, j.wrong + one.wrong, j.wide + one.wide}
	}
	return j
}

var rates = []PPM{50, -50, 100, -100, 200, -200, 137.5}

func same(o Offset) Offset { return o }

// coordinatorMoment returns the moment that is the given time after the start of the coordinator's clock.
func coordinatorMoment(since time.Duration) CoordinatorMoment { return CoordinatorMoment{since} }
