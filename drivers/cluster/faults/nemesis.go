package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Nemesis returns a random schedule of faults that are possible with p. The same seed gives the
// same schedule. There is about one fault per period, starting with the first; the last period is
// left for recovery.
func Nemesis(seed uint64, p Powers, every time.Duration) Schedule {
	r := rand.New(rand.NewPCG(seed, 1))
	var s Schedule
	for at := every; at < p.Window-2*every; at += every {
		late := time.Duration(r.Int64N(int64(every)/2 + 1)).Truncate(time.Millisecond)
		f := drawFault(r, p, every)
		f.At = at + late
		s = append(s, f)
	}
	return s
}

// drawFault returns one possible fault, which ends before the next begins.
func drawFault(r *rand.Rand, p Powers, every time.Duration) Fault {
	choices := troubles(p)
	f := choices[r.IntN(len(choices))]
	lasts := (every / 4).Truncate(time.Millisecond) + time.Millisecond
	verb := f.Steps[0].Verb
	switch verb {
	case Delay:
		f.Steps[0].By = time.Duration(1+r.IntN(50)) * time.Millisecond
	case Throttle:
		f.Steps[0].To = int64(4+r.IntN(60)) << 10
	case Lose:
		f.Steps[0].Reply = lossy[slices.Sorted(maps.Keys(lossy))[r.IntN(len(lossy))]]
	}
	if d, _ := find(verb); d.undone != "" {
		f.Steps = append(f.Steps, FaultAction{Verb: d.undone, After: lasts})
	}
	if f.Target.word == client {
		f.Target.n = 1 + r.IntN(p.Clients)
	}
	return f
}

// troubles returns the kinds of faults that are possible with p.
func troubles(p Powers) (all []Fault) {
	add := func(v Verb, w Target) { all = append(all, Fault{Target: w, Steps: []FaultAction{{Verb: v}}}) }
	one, half := Target{word: client}, Target{word: clients, share: 0.5}
	if p.Clients > 0 {
		for _, v := range []Verb{Expire, Cut, Delay, Throttle, Silence, Lose, Freeze} {
			add(v, one)
		}
		add(Cut, half)
		add(Silence, half)
	}
	if p.Holder {
		add(Freeze, Target{word: holder})
		add(Expire, Target{word: holder})
	}
	if p.Servers == 0 {
		return all
	}
	for _, w := range roles(p.Servers) {
		add(Stop, w)
		if !p.Forgets {
			add(Kill, w)
			add(Restart, w)
		}
		if p.Divisible {
			add(Isolate, w)
			add(Delay, w)
			add(Throttle, w)
		}
		if p.Disks && !p.Forgets {
			add(FillDisk, w)
		}
	}
	return all
}

func roles(servers int) []Target {
	if servers == 1 {
		return []Target{{word: leader}}
	}
	return []Target{{word: leader}, {word: follower}}
}

// Powers describes which faults are possible in a run.
type Powers struct {
	Service string // its name in errors
	Servers int    // number of servers that the run started; 0 for an external service
	// Forgets means that a killed server has no state on disk to restart from.
	Forgets bool
	// Divisible means that there are several servers and traffic between them can be blocked.
	Divisible bool
	// Disks means that the servers' disks can be filled.
	Disks bool

	Clients int
	Holder  bool // the recipe has a holder, such as of a lock
	Window  time.Duration
}

// Check returns an error for the first fault that is not possible in the run. The error is one line
// that names the valid choice.
func (s Schedule) Check(p Powers) error {
	for _, f := range s {
		if err := f.check(p); err != nil {
			return fmt.Errorf("fault %q: %w", f, err)
		}
	}
	return nil
}

func (f Fault) check(p Powers) error {
	if end := f.End(); end >= p.Window {
		return fmt.Errorf("its last step comes at %s, and the run is over at %s", duration(end), duration(p.Window))
	}
	if f.Target.servers() {
		return f.checkServers(p)
	}
	switch w := f.Target; {
	case w.word == holder && !p.Holder:
		return fmt.Errorf("no client holds anything in this recipe: want client=1 or clients=25%%")
	case w.word == client && w.n > p.Clients:
		return fmt.Errorf("there are %d clients", p.Clients)
	}
	return nil
}

func (f Fault) checkServers(p Powers) error {
	switch w := f.Target; {
	case p.Servers == 0:
		return fmt.Errorf("%s is a given service: only servers that the run starts can be broken", p.Service)
	case w.word == follower && p.Servers == 1:
		return fmt.Errorf("%s is one server, which has no followers: say servers=3", p.Service)
	case w.word == member && w.n > p.Servers:
		return fmt.Errorf("%s has %d servers", p.Service, p.Servers)
	}
	for _, s := range f.Steps {
		if err := s.checkServers(p); err != nil {
			return err
		}
	}
	return nil
}

func (s FaultAction) checkServers(p Powers) error {
	switch s.Verb {
	case Kill, Restart:
		if p.Forgets {
			return fmt.Errorf("%s keeps everything in memory, which would be gone: say durability=fsync", p.Service)
		}
	case FillDisk:
		if p.Forgets {
			return fmt.Errorf("%s keeps everything in memory, and has no disk: say durability=fsync", p.Service)
		}
		if !p.Disks {
			return fmt.Errorf("a full disk of %s cannot be tried: those of native: with durability=fsync and of etcd: can, on Linux", p.Service)
		}
	}
	if s.Verb.onLinks() {
		if p.Servers == 1 {
			return fmt.Errorf("%s is one server, which talks to no other: say servers=3", p.Service)
		}
		if !p.Divisible {
			return fmt.Errorf("%s was opened without anything between its servers: open it divisible", p.Service)
		}
	}
	return nil
}
