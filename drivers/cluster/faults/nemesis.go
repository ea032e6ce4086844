package faults

import (
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
		f := some(r, p, every)
		f.At = at + late
		s = append(s, f)
	}
	return s
}

// some returns one possible fault, which ends before the next begins.
func some(r *rand.Rand, p Powers, every time.Duration) Fault {
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
		f.Steps = append(f.Steps, Step{Verb: d.undone, After: lasts})
	}
	if f.Target.word == client {
		f.Target.n = 1 + r.IntN(p.Clients)
	}
	return f
}

// troubles returns the kinds of faults that are possible with p.
func troubles(p Powers) (all []Fault) {
	add := func(v Verb, w Target) { all = append(all, Fault{Target: w, Steps: []Step{{Verb: v}}}) }
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
