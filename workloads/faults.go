package workloads

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
)

// A holder workload has something that one client holds and others wait for.
type holder interface {
	// Holder returns the index of the slot that holds it now, if any does.
	Holder() (index int, holds bool)
}

// Holds reports whether a run of the form has a holder, which faults can target.
func (f Form) Holds() bool {
	_, ok := f.New(Settings{}).(holder)
	return ok
}

// powers returns what faults can target in the run.
func (p Plan) powers() faults.Powers {
	i := p.Service.Info()
	powers := faults.Powers{Service: i.URL, Forgets: i.Durability == "memory", Clients: p.Clients, Holder: p.Form.Holds(), Window: p.Duration, Etcd: i.Name == "etcd"}
	if e, ok := p.Service.(drivers.Ensemble); ok {
		powers.Servers, powers.Divisible, powers.Disks = len(e.Members()), e.Divisible(), e.Members()[0].CanFillDisk()
		powers.OwnDisks = e.Members()[0].CanHangDisk()
	}
	return powers
}

// checkFaults takes note of what faults of the run can break, and returns an error if one of the plan is not
// possible. of are those of a part; nil if they are the plan's.
func (p *Plan) checkFaults(of *PartFaults) error {
	if p.faulty = len(p.Faults) > 0 || of != nil; !p.faulty {
		return nil
	}
	return p.Faults.Check(p.powers())
}

// Nemesis returns random faults, about one in each interval of length every. It chooses them from
// the faults that are possible where the plan runs. The seed is separate from the plan's, so that
// runs that are compared can have the same faults.
func (p Plan) Nemesis(seed uint64, every time.Duration) faults.Schedule {
	return faults.Nemesis(seed, p.powers(), every)
}

// activeFaults holds the faults of a run in progress. All methods accept a nil activeFaults, for a run
// without faults.
type activeFaults struct {
	schedule faults.Schedule
	targets  faults.Subjects
	log      *metrics.FaultLog
	cancel   context.CancelFunc
	done     chan struct{} // closed when all faults have been undone
	watching sync.WaitGroup

	silences *faults.Silences // by the faults that this process injects
	servers  faults.Schedule  // that another process injects
	window   *metrics.Window  // of the run
	length   time.Duration    // of the window

	mu       sync.Mutex
	isolated map[int]bool // members that are isolated, and that may still report that they lead
	begun    map[int]int  // how often each fault has happened, by its index
}

func newActiveFaults(p Plan, part *Part) *activeFaults {
	if part.Faults == nil {
		return nil
	}
	t := &activeFaults{schedule: p.Faults, log: part.Faults.Log,
		silences: faults.NewSilences(cmp.Or(p.SessionTimeout, drivers.DefaultSessionTimeout)), servers: part.Faults.Servers,
		window: p.window, length: p.Duration, done: make(chan struct{}), isolated: make(map[int]bool), begun: make(map[int]int)}
	t.targets.Seed = p.Seed
	if e, ok := p.Service.(drivers.Ensemble); ok {
		t.targets.Servers = e.Members()
	}
	return t
}

// prepare makes the slots targets of faults.
func (t *activeFaults) prepare(c *Pool) {
	if t == nil {
		return
	}
	for i, s := range c.Slots {
		s.faults = &clientFaults{number: i, log: t.log, throughLink: t.schedule.OnClients(), relays: t.schedule.Relays()}
		s.faults.target = &faultTarget{s}
		t.targets.Clients = append(t.targets.Clients, s.faults.target)
	}
	t.targets.Holder = c.holder
	t.targets.Clients = faults.AmongOthers(t.targets.Clients, c.part.First, c.part.Faults.Sessions)
	t.targets.Claims = c.part.Faults.Claims
}

// holder returns the number, among the slots of all processes, of a slot of this one that holds.
func (c *Pool) holder() (int, bool) {
	for i, s := range c.Slots {
		w, ok := c.instances[s.instance].(holder)
		if !ok {
			continue
		}
		if index, holds := w.Holder(); holds && index == s.Index {
			return c.part.First + i, true
		}
	}
	return 0, false
}

// begin starts the fault schedule.
func (t *activeFaults) begin(r *runner) {
	if t == nil {
		return
	}
	var ctx context.Context
	ctx, t.cancel = context.WithCancel(r.rounds)
	t.log.Begin()
	t.log.Counted(r.pool.Meter.Counts())
	go func() {
		defer close(t.done)
		defer t.silences.Restored()
		if err := t.do(ctx, func() { t.log.Counted(r.pool.Meter.Counts()) }); err != nil {
			r.fail(err)
		}
	}()
}

// do injects the faults, and undoes them when the context ends. It calls told after each step.
func (t *activeFaults) do(ctx context.Context, told func()) error {
	return t.schedule.Do(ctx, t.targets, func(d faults.Done) {
		t.log.Broke(d.What, d.Began, d.Step == 0)
		t.silences.Record(d)
		if d.Step == 0 {
			t.mu.Lock()
			t.begun[d.Fault]++
			t.mu.Unlock()
		}
		told()
		if len(d.Servers) > 0 && d.Verb != faults.Thaw { // what a disk has not taken the lead from leads on
			t.recordIsolation(d)
			t.watching.Go(func() { t.awaitLeader(ctx, d) })
		}
	})
}

// InjectFaults injects the plan's faults, which must be those of servers, into the plan's service, whose
// clients other processes have. It undoes them when the context ends.
func InjectFaults(ctx context.Context, p Plan, log *metrics.FaultLog) error {
	t := newActiveFaults(p, &Part{Faults: &PartFaults{Log: log}})
	err := t.do(ctx, func() {})
	t.watching.Wait()
	return err
}

// recordIsolation records which members are isolated.
func (t *activeFaults) recordIsolation(d faults.Done) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range d.Servers {
		t.isolated[i] = d.Verb == faults.Isolate || t.isolated[i] && d.Verb != faults.Restore
	}
}

const (
	lookEvery = 20 * time.Millisecond
	lookTime  = 200 * time.Millisecond
)

// awaitLeader waits until a member that is not isolated reports that it leads. A leader whose disk
// has been filled, or hangs, reports so until its next write, so awaitLeader first waits until it no longer
// does.
func (t *activeFaults) awaitLeader(ctx context.Context, d faults.Done) {
	if d.Verb == faults.FillDisk || d.Verb == faults.HangDisk {
		for _, i := range d.Servers {
			t.awaitAnswer(ctx, i, false)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan time.Time, len(t.targets.Servers))
	for i := range t.targets.Servers { // each by itself: one that is stopped answers nothing
		t.watching.Go(func() {
			if asked, answered := t.awaitAnswer(ctx, i, true); answered {
				first <- asked
			}
		})
	}
	select {
	case asked := <-first:
		t.log.Led(asked)
	case <-ctx.Done():
	}
}

// awaitAnswer asks a server until it says that it leads, or that it does not. It returns when it asked the last time; of a
// member that is isolated it takes no answer for a leader's.
func (t *activeFaults) awaitAnswer(ctx context.Context, server int, leads bool) (asked time.Time, answered bool) {
	for ctx.Err() == nil {
		asked = time.Now()
		limited, cancel := context.WithTimeout(ctx, lookTime)
		is, err := t.targets.Servers[server].Leads(limited)
		cancel()
		if is = is && err == nil && !t.isIsolated(server); is == leads {
			return asked, true
		}
		Sleep(ctx, lookEvery)
	}
	return asked, false
}

func (t *activeFaults) isIsolated(server int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.isolated[server]
}

// end cancels the schedule and waits until all faults have been undone.
func (t *activeFaults) end() {
	if t == nil || t.cancel == nil {
		return
	}
	t.cancel()
	<-t.done
	t.watching.Wait()
}

// missing returns an error if a fault was due in a window of the given length and did not happen: a run without it proves
// nothing about it. Of several processes, each may leave a fault to another.
func (t *activeFaults) missing(length time.Duration) error {
	if t == nil || t.cancel == nil || t.targets.Claims != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, missing := t.schedule.Missing(length, t.begun); missing {
		return fmt.Errorf("fault %q did not happen before the end: its target was not there, or the service refused what it takes, such as a further connection", f)
	}
	return nil
}

// faultLap is the length of one interval of the result in a run with faults: short enough to show
// when clients recover.
const faultLap = 100 * time.Millisecond

func (t *activeFaults) interval() time.Duration {
	if t == nil {
		return lapTime
	}
	return faultLap
}

// explain reports whether faults can be why the client's session ended. No client has heard of the service for as long as
// silent.
func (t *activeFaults) explain(s *Slot, silent time.Duration) bool {
	if t == nil {
		return false
	}
	others := t.window.IsOpen() && t.servers.Silences(time.Since(t.window.Opens()), t.length, t.silences.Life, silent)
	return others || t.silences.Explain(s.faults.target, silent)
}

// freeze reports whether a fault suspends the client, which then learns nothing of its session.
func (t *activeFaults) freeze(s *Slot) bool { return t != nil && t.silences.Freeze(s.faults.target) }

// sample records the counts of messages so far.
func (t *activeFaults) sample(c metrics.Counts) {
	if t != nil {
		t.log.Counted(c)
	}
}

// fill fills in the faults and the recoveries from them.
func (t *activeFaults) fill(r *metrics.Record) {
	if t == nil {
		return
	}
	r.Breaks, r.Recoveries = t.log.Breaks(), t.log.Recoveries(r.Answered())
}
