package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Schedule lists the faults of one run. The zero Schedule has none.
type Schedule []Fault

// A Fault is a sequence of steps on the same targets, starting at a given time.
type Fault struct {
	At     time.Duration // since the start of the measured window
	Target Target
	Steps  []FaultAction // at least one; the first is performed at At
	// Every is the time from one beginning to the next of a fault that happens several Times; both are 0 if it
	// happens once.
	Every time.Duration
	Times int
}

// A FaultAction is one action of a fault.
type FaultAction struct {
	After     time.Duration // since the previous step
	Verb      Verb
	By        time.Duration     // for delay: in each direction
	To        int64             // for throttle: bytes a second in each direction
	Reply     drivers.Op        // for lose: the operation whose reply is lost
	Direction drivers.Direction // for isolate and silence: what does not pass, as the target sees it
	Key       string            // for verbs that end watches: the key or prefix that these are on; "" for all
}

// End returns the time of the last step.
func (f Fault) End() time.Duration {
	return f.At + f.Every*time.Duration(max(f.Times, 1)-1) + f.Length()
}

// Length returns the time from the first step to the last, each time that the fault happens.
func (f Fault) Length() (length time.Duration) {
	for _, s := range f.Steps {
		length += s.After
	}
	return length
}

// End returns the time of the last step of all faults.
func (s Schedule) End() (end time.Duration) {
	for _, f := range s {
		end = max(end, f.End())
	}
	return end
}

// Missing returns the first fault that did not happen as often as it was due in a window of the given length; begun is
// how often each did, by its index.
func (s Schedule) Missing(length time.Duration, begun map[int]int) (f Fault, missing bool) {
	for i, f := range s {
		due := 0
		for n := range max(f.Times, 1) {
			if f.At+f.Every*time.Duration(n) < length {
				due++
			}
		}
		if begun[i] < due {
			return f, true
		}
	}
	return Fault{}, false
}

// String returns the form that Parse reads, shortened with for= if the second step undoes the
// first.
func (f Fault) String() string {
	text := fmt.Sprintf("at=%s %s", duration(f.At), f.Steps[0].words(f.Target))
	if f.Times > 0 {
		text += fmt.Sprintf(" every=%s times=%d", duration(f.Every), f.Times)
	}
	if f.withFor() {
		return text + " for=" + duration(f.Steps[1].After)
	}
	for _, s := range f.Steps[1:] {
		text += ", " + s.words(Target{}) + " after=" + duration(s.After)
	}
	return text
}

// withFor reports whether the fault is one verb that is undone after a time, and nothing more.
func (f Fault) withFor() bool {
	d, _ := find(f.Steps[0].Verb)
	return len(f.Steps) == 2 && d.undone != "" && f.Steps[1].Verb == d.undone
}

func (s FaultAction) words(w Target) string {
	all := []string{string(s.Verb)}
	if w.word != "" {
		all = append(all, w.String())
	}
	switch s.Verb {
	case Delay:
		all = append(all, by+"="+duration(s.By))
	case Throttle:
		all = append(all, to+"="+bytesText(s.To))
	case Lose:
		all = append(all, reply+"="+opName(s.Reply))
	}
	if s.Key != "" {
		all = append(all, key+"="+s.Key)
	}
	return strings.Join(all, " ") + s.oneWay()
}

// oneWay returns " direction=out" if the step concerns one direction, else nothing.
func (s FaultAction) oneWay() string {
	for name, d := range directions {
		if s.Direction == d && d != drivers.Both {
			return " " + direction + "=" + name
		}
	}
	return ""
}

// directions maps names to the directions of isolate and silence.
var directions = map[string]drivers.Direction{"in": drivers.In, "out": drivers.Out, "both": drivers.Both}

// Divides reports whether a fault concerns traffic between members.
func (s Schedule) Divides() bool {
	for _, f := range s {
		for _, step := range f.Steps {
			if f.Target.servers() && step.Verb.onLinks() {
				return true
			}
		}
	}
	return false
}

// HangsDisks reports whether a fault makes the disk of a member hang.
func (s Schedule) HangsDisks() bool {
	return slices.ContainsFunc(s, func(f Fault) bool {
		return slices.ContainsFunc(f.Steps, func(step FaultAction) bool { return step.Verb == HangDisk })
	})
}

// onLinks reports whether the verb concerns connections that Restore restores. With servers as
// targets, these are the connections between servers.
func (v Verb) onLinks() bool {
	d, _ := find(v)
	return v == Restore || d.undone == Restore
}

// Relays reports whether a fault concerns what passes a [Relay].
func (s Schedule) Relays() bool {
	return slices.ContainsFunc(s, func(f Fault) bool {
		return slices.ContainsFunc(f.Steps, func(step FaultAction) bool { return step.Verb == Drop || step.Verb == Double })
	})
}

// OnClients reports whether a fault concerns sessions or their connections.
func (s Schedule) OnClients() bool {
	return slices.ContainsFunc(s, func(f Fault) bool { return !f.Target.servers() })
}

// Split returns the faults of servers and those of clients.
func (s Schedule) Split() (servers, clients Schedule) {
	for _, f := range s {
		if f.Target.servers() {
			servers = append(servers, f)
		} else {
			clients = append(clients, f)
		}
	}
	return servers, clients
}

// String returns one fault per line.
func (s Schedule) String() string {
	var lines []string
	for _, f := range s {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// duration formats d without the trailing zeros of time.Duration: 1m, not 1m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func bytesText(n int64) string {
	for _, u := range units {
		if n%u.size == 0 && n >= u.size {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// units are the units of a throttle's rate, largest first.
var units = []struct {
	name string
	size int64
}{{"m", 1 << 20}, {"k", 1 << 10}}

// lossy maps names to the operations whose replies can be lost.
var lossy = map[string]drivers.Op{"create": drivers.OpCreate, "delete": drivers.OpDelete, "set": drivers.OpSet,
	"exists": drivers.OpExists, "get": drivers.OpGet, "list": drivers.OpChildren}

func opName(op drivers.Op) string {
	for name, o := range lossy {
		if o == op {
			return name
		}
	}
	return ""
}
