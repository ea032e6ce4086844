package workloads

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// instances are those of one recipe that a run drives side by side, each with as
// many clients as the others: many locks, not one. They share nothing but what
// they are timed with.
type instances []Workload

// newInstances makes n of them, at least one.
func newInstances(n int, f Form, s Settings) instances {
	s.timings, s.told = make(map[string]*metrics.Latency), new(fanoutTimes)
	all := make(instances, max(n, 1))
	for i := range all {
		all[i] = f.New(s)
	}
	return all
}

// latency is what the phase is timed with, in all instances of a run.
func (s Settings) latency(phase string) *metrics.Latency {
	if s.timings == nil {
		return metrics.NewLatency(phase)
	}
	if s.timings[phase] == nil {
		s.timings[phase] = metrics.NewLatency(phase)
	}
	return s.timings[phase]
}

// phases are what was recorded of each so far.
func phases(timings []*metrics.Latency) (all []metrics.Phase) {
	for _, l := range timings {
		all = append(all, l.Phase())
	}
	return all
}

// setup makes what the clients of each share, below nodes of their own where
// there are several.
func (all instances) setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	for i, w := range all {
		at := base
		if len(all) > 1 {
			at = fmt.Sprintf("%s/%d", base, i+1)
			if err := makeNode(ctx, c, at, nil, 0); err != nil {
				return err
			}
		}
		if err := w.Setup(ctx, c, at, clients/len(all)); err != nil {
			return err
		}
	}
	return nil
}

// seats are the places of all clients, and of who leads them, one instance's
// after the other's.
func (all instances) seats(clients int) (seats []*Seat) {
	for i, w := range all {
		for index := range sessions(w, clients/len(all)) {
			s := &Seat{Index: index, instance: i, name: fmt.Sprintf("client %d", index+1)}
			if len(all) > 1 {
				s.name += fmt.Sprintf(" of group %d", i+1)
			}
			seats = append(seats, s)
		}
	}
	return seats
}

func (all instances) begin() {
	for _, w := range all {
		w.Begin()
	}
}

// end fills in what was timed, which is the same in all, and how fair each was.
func (all instances) end(r *metrics.Record) {
	for _, w := range all {
		before := r.Fairness
		if w.End(r); before != nil {
			*r.Fairness = r.Fairness.With(*before)
		}
	}
}

// timed fills in how long things took once more, after the window has closed:
// arrivals that were due in the window and ended after it are among the times, but
// not among the rounds.
func (all instances) timed(r *metrics.Record) {
	var now metrics.Record
	all.end(&now)
	r.Phases, r.Fanout = now.Phases, now.Fanout
}

// verdict is what the safety checks of all saw.
func (all instances) verdict() (v metrics.Safety) {
	for i, w := range all {
		one := w.Verdict()
		if len(all) > 1 {
			for j := range one.Details {
				one.Details[j] = fmt.Sprintf("group %d: %s", i+1, one.Details[j])
			}
		}
		v = v.With(one, maxDetails)
	}
	return v
}
