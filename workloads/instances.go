package workloads

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// instances are the instances of one recipe that a run drives at the same time, each with the same
// number of clients: many locks instead of one. They share nothing but their latency recorders.
type instances []Workload

// newInstances creates n instances, at least one. x is nil unless other processes have clients of them.
func newInstances(n int, f Form, s Settings, x *exchange.Run) instances {
	s.timings, s.fanout = make(map[string]*metrics.Latency), new(FanoutTimes)
	all := make(instances, max(n, 1))
	steps := s.steps
	for i := range all {
		s.steps, s.exchange = steps.Of(i), x.Of(i)
		all[i] = f.New(s)
	}
	return all
}

// setup creates the nodes that the clients of each instance share. Several instances each have a
// node of their own.
func (all instances) setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	for i, w := range all {
		at := base
		if len(all) > 1 {
			at = fmt.Sprintf("%s/%d", base, i+1)
			if err := namespace.CreateNode(ctx, c, at, nil, 0); err != nil {
				return err
			}
		}
		if err := w.Setup(ctx, c, at, clients/len(all)); err != nil {
			return err
		}
	}
	return nil
}

// slots returns the slots of all clients, leaders and observers, in the order of the instances.
func (all instances) slots(clients int) (slots []*Slot) {
	for i, w := range all {
		for index := range SessionCount(w, clients/len(all)) {
			s := &Slot{Index: index, instance: i, name: fmt.Sprintf("client %d", index+1)}
			if len(all) > 1 {
				s.name += fmt.Sprintf(" of group %d", i+1)
			}
			slots = append(slots, s)
		}
	}
	return slots
}

func (all instances) begin() {
	for _, w := range all {
		w.Begin()
	}
}

// end fills in the times, which the instances share, and the combined fairness of the instances.
func (all instances) end(r *metrics.Record) {
	for _, w := range all {
		before := r.Fairness
		if w.End(r); before != nil {
			*r.Fairness = r.Fairness.With(*before)
		}
	}
}

// fillTimes fills in the times again after the window has closed. Arrivals that were due in the window
// and ended after it count among the times, but not among the rounds.
func (all instances) fillTimes(r *metrics.Record) {
	var now metrics.Record
	all.end(&now)
	r.Phases, r.Fanout = now.Phases, now.Fanout
}

// verdict returns the findings of the safety checks of all instances.
func (all instances) verdict() (v metrics.Safety) {
	for i, w := range all {
		one := w.Verdict()
		if len(all) > 1 {
			for j := range one.Details {
				one.Details[j] = fmt.Sprintf("group %d: %s", i+1, one.Details[j])
			}
		}
		v = v.With(one, check.MaxDetails)
	}
	return v
}

// Phases returns what each recorder has recorded so far.
func Phases(timings []*metrics.Latency) (all []metrics.Phase) {
	for _, l := range timings {
		all = append(all, l.Phase())
	}
	return all
}
