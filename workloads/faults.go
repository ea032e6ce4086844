package workloads

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/metrics"
)

// A holding workload has something that one client holds and others wait for.
type holding interface {
	// Holder returns the index of the seat that holds it now, if any does.
	Holder() (index int, holds bool)
}

// Holds reports whether a run of the form has a holder, which faults can target.
func (f Form) Holds() bool {
	_, ok := f.New(Settings{}).(holding)
	return ok
}

// powers returns what faults can target in the run.
func (p Plan) powers() faults.Powers {
	i := p.Service.Info()
	powers := faults.Powers{Service: i.URL, Forgets: i.Durability == "memory", Clients: p.Clients, Holder: p.Form.Holds(), Window: p.Duration}
	if e, ok := p.Service.(drivers.Ensemble); ok {
		powers.Servers, powers.Divisible, powers.Disks = len(e.Members()), e.Divisible(), e.Members()[0].CanFillDisk()
	}
	return powers
}

// Nemesis returns random faults, about one in each interval of length every. It chooses them from
// the faults that are possible where the plan runs. The seed is separate from the plan's, so that
// runs that are compared can have the same faults.
func (p Plan) Nemesis(seed uint64, every time.Duration) faults.Schedule {
	return faults.Nemesis(seed, p.powers(), every)
}

// A trouble is the faults of a run in progress. All methods accept a nil trouble, for a run
// without faults.
type trouble struct {
	schedule faults.Schedule
	service  drivers.Service
	subjects faults.Subjects
	diary    *metrics.Diary
	cancel   context.CancelFunc
	done     chan struct{} // closed when all faults have been undone
	watching sync.WaitGroup

	mu    sync.Mutex
	apart map[int]bool // members that are isolated, and that may still report that they lead
}

func newTrouble(p Plan) *trouble {
	if len(p.Faults) == 0 {
		return nil
	}
	t := &trouble{schedule: p.Faults, service: p.Service, done: make(chan struct{}), apart: make(map[int]bool)}
	t.subjects.Seed = p.Seed
	if e, ok := p.Service.(drivers.Ensemble); ok {
		t.subjects.Servers = e.Members()
	}
	return t
}

// prepare makes the seats targets of faults.
func (t *trouble) prepare(c *crew) {
	if t == nil {
		return
	}
	t.diary = metrics.NewDiary(len(c.seats))
	for i, s := range c.seats {
		s.harm = &harm{number: i, diary: t.diary, lined: t.schedule.OnClients()}
		t.subjects.Clients = append(t.subjects.Clients, &victim{s, t.service})
	}
	t.subjects.Holder = c.holder
}

// holder returns the number of a seat that holds, in any instance.
func (c *crew) holder() (int, bool) {
	for i, s := range c.seats {
		w, ok := c.instances[s.instance].(holding)
		if !ok {
			continue
		}
		if index, holds := w.Holder(); holds && index == s.Index {
			return i, true
		}
	}
	return 0, false
}

// begin starts the fault schedule.
func (t *trouble) begin(r *runner) {
	if t == nil {
		return
	}
	var ctx context.Context
	ctx, t.cancel = context.WithCancel(r.rounds)
	t.diary.Begin()
	t.diary.Counted(r.crew.meter.Counts())
	go func() {
		defer close(t.done)
		err := t.schedule.Do(ctx, t.subjects, func(d faults.Done) {
			t.diary.Broke(d.What, d.Began, d.Step == 0)
			t.diary.Counted(r.crew.meter.Counts())
			if len(d.Servers) > 0 {
				t.divided(d)
				t.watching.Go(func() { t.awaitLeader(ctx, d) })
			}
		})
		if err != nil {
			r.fail(err)
		}
	}()
}

// divided records which members are isolated.
func (t *trouble) divided(d faults.Done) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range d.Servers {
		switch d.Verb {
		case faults.Isolate:
			t.apart[i] = true
		case faults.Mend:
			delete(t.apart, i)
		}
	}
}

const (
	lookEvery = 20 * time.Millisecond
	lookTime  = 200 * time.Millisecond
)

// awaitLeader waits until a member that is not isolated reports that it leads. A leader whose disk
// has been filled reports so until its next write, so awaitLeader first waits until it no longer
// does.
func (t *trouble) awaitLeader(ctx context.Context, d faults.Done) {
	for d.Verb == faults.FillDisk && ctx.Err() == nil && t.led(ctx, d.Servers) {
		keep(ctx, lookEvery)
	}
	var all []int
	for i := range t.subjects.Servers {
		all = append(all, i)
	}
	for ctx.Err() == nil {
		if t.led(ctx, all) {
			t.diary.Led()
			return
		}
		keep(ctx, lookEvery)
	}
}

// led reports whether one of the servers reports that it leads.
func (t *trouble) led(ctx context.Context, servers []int) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var found atomic.Bool
	var all sync.WaitGroup
	for _, i := range servers {
		m := t.subjects.Servers[i]
		if t.isApart(i) {
			continue
		}
		all.Go(func() {
			if leads, err := m.Leads(ctx); err == nil && leads {
				found.Store(true)
			}
		})
	}
	all.Wait()
	return found.Load()
}

func (t *trouble) isApart(server int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.apart[server]
}

// end cancels the schedule and waits until all faults have been undone.
func (t *trouble) end() {
	if t == nil || t.cancel == nil {
		return
	}
	t.cancel()
	<-t.done
	t.watching.Wait()
}

// faultLap is the length of one interval of the result in a run with faults: short enough to show
// when clients recover.
const faultLap = 100 * time.Millisecond

func (t *trouble) lap() time.Duration {
	if t == nil {
		return lapTime
	}
	return faultLap
}

// sample records the counts of messages so far.
func (t *trouble) sample(c metrics.Counts) {
	if t != nil {
		t.diary.Counted(c)
	}
}

// tell fills in the faults and the recoveries from them.
func (t *trouble) tell(r *metrics.Record) {
	if t == nil {
		return
	}
	r.Breaks, r.Recoveries = t.diary.Breaks(), t.diary.Recoveries(r.Duration)
}
