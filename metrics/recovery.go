package metrics

import (
	"slices"
	"time"
)

// A Break is one thing that was done to the service or the clients.
type Break struct {
	At   time.Duration // from the window's beginning
	What string        // "kill member 2, the leader"
}

// A Recovery is what the clients had of one fault, from its first step until the
// next fault or the end of the window. Times are from that step; a nil one says
// that it did not come about.
type Recovery struct {
	Break
	Span time.Duration // for how long it was watched

	Noticed     *time.Duration // until the first client was told that it is disconnected
	Led         *time.Duration // until there was a leader, where there had to be another
	Reconnected *time.Duration // until the last of those that were disconnected was connected again
	// Pause is the longest time in which nobody was served, of which a part lies
	// behind the fault; Served is when it was over: the first grant after it. Where
	// none was twice as long as it was before, it is the one that the fault fell in.
	Pause  time.Duration
	Served *time.Duration
	// Stall is the same of each client by itself: the middle one's and the
	// longest. Usual is the longest of the middle one before the fault.
	Stall, LongestStall, Usual time.Duration
	// Back is until as much was done in a second as nine tenths of what was done
	// before the fault.
	Back *time.Duration
	// Before and After are how much was done, a second.
	Before, After float64

	Disconnected int              // how many clients were, at least once
	Lost         int              // sessions that ended
	Errors       map[string]int64 // that clients had, by sentinel text
	// What crossed the wire until throughput was back and everybody connected, for
	// a second at least, or in the whole span where that never came: the herd of
	// those that come back, and what they do usually.
	Counts Counts
}

// recovered is the share of what was done before that must be done again.
const recovered = 0.9

// over is the time in which throughput is looked at.
const over = time.Second

// recovery sums up one fault.
func (d *Diary) recovery(f Break, before, until time.Duration) Recovery {
	r := Recovery{Break: f, Span: until - f.At, Errors: map[string]int64{}}
	r.Noticed, r.Reconnected, r.Disconnected, r.Lost = d.connections(f.At, until)
	if led := first(d.led, f.At, until); led != nil {
		r.Led = led
	}
	all := d.everybody()
	r.Pause, r.Served = pause(all, before, f.At, until)
	r.Usual = d.usual(before, f.At)
	r.Stall, r.LongestStall = d.stalls(f.At, until)
	r.Before = rate(all, max(before, f.At-5*over), f.At)
	r.After = rate(all, f.At, until)
	back := until
	if r.Served != nil {
		r.Back = backAt(all, f.At, f.At+*r.Served, until, recovered*r.Before)
	}
	if r.Back != nil && (r.Disconnected == 0 || r.Reconnected != nil) {
		back = f.At + max(over, *r.Back)
	}
	if r.Back != nil && r.Reconnected != nil {
		back = max(back, f.At+*r.Reconnected)
	}
	r.Counts = d.counted(f.At, min(back, until))
	for _, e := range d.errors {
		if e.at >= f.At && e.at < until {
			r.Errors[e.text]++
		}
	}
	return r
}

// first is the first of the moments in the span, from its beginning.
func first(moments []time.Duration, from, until time.Duration) *time.Duration {
	for _, m := range moments {
		if m >= from && m < until {
			m -= from
			return &m
		}
	}
	return nil
}

// longestGap is the longest time between two moments that lies at least in part
// behind from, and when it ended, from there; nil if it did not end before until.
func longestGap(moments []time.Duration, from, until time.Duration) (gap time.Duration, ended *time.Duration) {
	i, _ := slices.BinarySearch(moments, from)
	last := time.Duration(0)
	if i > 0 {
		last = moments[i-1]
	}
	for _, m := range append(slices.Clone(upTo(moments[i:], until)), until) {
		if m-last > gap {
			gap, ended = m-last, nil
			if m < until {
				after := m - from
				ended = &after
			}
		}
		last = m
	}
	return gap, ended
}

// pause is the longest gap behind a fault, if it is out of the ordinary, and else
// the one that the fault fell in.
func pause(moments []time.Duration, before, fault, until time.Duration) (gap time.Duration, ended *time.Duration) {
	usual, _ := longestGap(moments, before, fault)
	gap, ended = longestGap(moments, fault, until)
	if fault-before < over || gap > 2*usual {
		return gap, ended
	}
	if i, _ := slices.BinarySearch(moments, fault); i < len(moments) && moments[i] < until {
		return longestGap(moments[:i+1], fault, moments[i]+1)
	}
	return gap, ended
}

// upTo are the moments before until.
func upTo(moments []time.Duration, until time.Duration) []time.Duration {
	i, _ := slices.BinarySearch(moments, until)
	return moments[:i]
}

// rate is how many moments there are a second.
func rate(moments []time.Duration, from, until time.Duration) float64 {
	if until <= from {
		return 0
	}
	i, _ := slices.BinarySearch(moments, from)
	j, _ := slices.BinarySearch(moments, until)
	return float64(j-i) / (until - from).Seconds()
}

// backAt is the first moment from which a second sees so many a second, from the
// fault; nil if none does.
func backAt(moments []time.Duration, fault, from, until time.Duration, want float64) *time.Duration {
	i, _ := slices.BinarySearch(moments, from)
	for _, m := range moments[i:] {
		if m+over > until {
			return nil
		}
		if rate(moments, m, m+over) >= want {
			back := m - fault
			return &back
		}
	}
	return nil
}

// stalls are the longest times that clients were not served, the middle one's and
// the longest of all.
func (d *Diary) stalls(from, until time.Duration) (middle, longest time.Duration) {
	return middleAndMost(d.gaps(from, until))
}

// usual is the middle one's before the fault.
func (d *Diary) usual(from, until time.Duration) time.Duration {
	if until-from < over {
		return 0
	}
	middle, _ := middleAndMost(d.gaps(from, until))
	return middle
}

func (d *Diary) gaps(from, until time.Duration) (all []time.Duration) {
	for _, moments := range d.served {
		gap, _ := longestGap(moments, from, until)
		all = append(all, gap)
	}
	return all
}

func middleAndMost(all []time.Duration) (middle, most time.Duration) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}
