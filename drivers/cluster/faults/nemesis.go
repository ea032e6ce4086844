package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
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
	case Isolate, Silence:
		f.Steps[0].Direction = drivers.Both
	case Throttle:
		f.Steps[0].To = int64(4+r.IntN(60)) << 10
	case Lose:
		f.Steps[0].Reply = lossy[slices.Sorted(maps.Keys(lossy))[r.IntN(len(lossy))]]
	}
	if d, _ := find(verb); d.undone != "" {
		f.Steps = append(f.Steps, FaultAction{Verb: d.undone, After: lasts})
	}
	if f.Target.word == client {
		f.Target.n = 1 + r.IntN(max(p.Clients, 1))
	}
	return f
}

// troubles returns the kinds of faults that are possible with p.
func troubles(p Powers) (all []Fault) {
	add := func(v Verb, w Target) { all = append(all, Fault{Target: w, Steps: []FaultAction{{Verb: v}}}) }
	one, half := Target{word: client}, Target{word: clients, share: 0.5}
	if p.Program {
		one.word, one.share = clients, 0.01 // how many there will be is not known
	}
	if p.Clients > 0 || p.Program {
		for _, v := range []Verb{Expire, Cut, Delay, Throttle, Silence, Lose, Freeze, Hold, Move, CancelWatch, CompactWatch, BreakStream} {
			if f := (Fault{Target: one, Steps: []FaultAction{{Verb: v}}}); f.check(p) == nil {
				add(v, one)
			}
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
	// OwnDisks means that the servers have file systems of their own, which can hang.
	OwnDisks bool

	Clients int
	Holder  bool          // the recipe has a holder, such as of a lock
	Window  time.Duration // 0 if it is not known

	// Program means that the clients are those of another program, in place of Clients, and Members is how many
	// servers they connect to.
	Program bool
	Members int
	Etcd    bool // the service is etcd
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
	if end := f.End(); end >= p.Window && p.Window > 0 {
		return fmt.Errorf("its last step comes at %s, and the run is over at %s", duration(end), duration(p.Window))
	}
	if f.Target.servers() {
		return f.checkServers(p)
	}
	at := inRuns
	if p.Program {
		at = inPrograms
	}
	for _, s := range f.Steps {
		d, _ := find(s.Verb)
		switch {
		case d.clients&at == 0 && p.Program:
			return fmt.Errorf("%s needs clients of stampede's own, as of stampede run", s.Verb)
		case d.clients&at == 0:
			return fmt.Errorf("%s needs the clients of another program, as of stampede observe", s.Verb)
		case d.etcd && !p.Etcd:
			return fmt.Errorf("%s is for watches of etcd, and %s has none: want cut or expire", s.Verb, p.Service)
		case d.packets && p.Etcd:
			return fmt.Errorf("%s is for notifications of ZooKeeper's protocol, and %s has none: want native: or zookeeper", s.Verb, p.Service)
		case s.Verb == Move && p.Members < 2:
			return fmt.Errorf("%s is one server: there is no other to move to", p.Service)
		}
	}
	switch w := f.Target; {
	case w.place()&at == 0 && p.Program:
		return fmt.Errorf("%s is known of stampede's own clients only: want client=1, clients=25%%, process=NAME or node=PATH", w)
	case w.place()&at == 0:
		return fmt.Errorf("%s is for the clients of another program: want client=1 or clients=25%%", w)
	case w.word == node && !p.Etcd && !strings.HasPrefix(w.name, "/"):
		return fmt.Errorf("%s: a path begins with a slash, such as node=/%s", w, w.name)
	case p.Program:
	case w.word == holder && !p.Holder:
		return fmt.Errorf("no client holds anything in this recipe: want client=1 or clients=25%%")
	case w.word == client && w.n > p.Clients:
		return fmt.Errorf("there are %d clients", p.Clients)
	}
	return nil
}

// BreaksLeader reports whether a fault is one of the leader.
func (s Schedule) BreaksLeader() bool {
	return slices.ContainsFunc(s, func(f Fault) bool { return f.Target.word == leader })
}

func (f Fault) checkServers(p Powers) error {
	switch w := f.Target; {
	case p.Servers == 0:
		return fmt.Errorf("%s is a given service: only servers that the run starts can be broken", p.Service)
	case w.word == follower && p.Servers == 1:
		return fmt.Errorf("%s is one server, which has no followers: say servers=3", p.Service)
	case w.word == member && w.n > p.Servers:
		return fmt.Errorf("%s has %d servers", p.Service, p.Servers)
	case w.once != "" && !p.Program:
		return fmt.Errorf("once=%s waits for a node of another program, as of stampede observe", w.once)
	case w.once != "" && !p.Etcd && !strings.HasPrefix(w.once, "/"):
		return fmt.Errorf("once=%s: a path begins with a slash, such as once=/%[1]s", w.once)
	}
	hangs := false
	for _, s := range f.Steps {
		if err := s.checkServers(p); err != nil {
			return err
		}
		switch s.Verb {
		case HangDisk, Thaw:
			hangs = s.Verb == HangDisk
		case Kill, Restart, Stop:
			if hangs {
				return fmt.Errorf("no %s reaches a member whose disk hangs: thaw it first", s.Verb)
			}
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
	if s.Verb == HangDisk {
		if p.Forgets {
			return fmt.Errorf("%s keeps everything in memory, and has no disk: say durability=fsync", p.Service)
		}
		if !p.OwnDisks {
			return fmt.Errorf("the disk of %s cannot hang: that takes root on Linux, mkfs.ext4, mount and loop devices", p.Service)
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
