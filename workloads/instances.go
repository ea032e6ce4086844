package workloads

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// instances are the instances of one recipe that a run drives at the same time, each with the same
// number of clients: many locks instead of one. They share nothing but their latency recorders.
type instances []Workload

// newInstances creates n instances, at least one, for the clients of a part.
func newInstances(n int, f Form, s Settings, part *Part) instances {
	s.timings, s.fanout = make(map[string]*metrics.Latency), new(metrics.FanoutTimes)
	all := make(instances, max(n, 1))
	for i := range all {
		s.steps, s.exchange = part.Steps.ForGroup(i), part.Exchange.Instance(i)
		all[i] = f.New(s)
	}
	return all
}

// base returns the path of the nodes of an instance. Several instances each have a node of their own.
func (all instances) base(of string, i int) string {
	if len(all) == 1 {
		return of
	}
	return fmt.Sprintf("%s/%d", of, i+1)
}

func (all instances) attach(admin drivers.Conn, base string, clients int) {
	for i, w := range all {
		w.Attach(admin, all.base(base, i), clients/len(all))
	}
}

// setup creates the nodes that the clients of each instance share.
func (all instances) setup(ctx context.Context, c drivers.Conn, base string) error {
	for i, w := range all {
		if at := all.base(base, i); at != base {
			if err := namespace.CreateNode(ctx, c, at, nil, 0); err != nil {
				return err
			}
		}
		if err := w.Setup(ctx, c); err != nil {
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

// fill fills in what the instances have measured so far: the times, which they share, and their combined
// fairness. It returns how many rounds have their times.
func (all instances) fill(r *metrics.Record) (timed int64) {
	var now metrics.Record
	for _, w := range all {
		before := now.Fairness
		if w.Fill(&now); before != nil {
			*now.Fairness = now.Fairness.Add(*before)
		}
	}
	r.Phases, r.Fairness, r.Fanout, r.Mix, r.Storm, r.Reconnects = now.Phases, now.Fairness, now.Fanout, now.Mix, now.Storm, now.Reconnects
	return now.Rounds
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
		v = v.Add(one, check.MaxDetails)
	}
	return v
}
