package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Schedule is what is broken in one run. The zero Schedule is nothing.
type Schedule []Fault

// A Fault is what is done to somebody at a moment, and what is done to the same
// afterwards.
type Fault struct {
	At    time.Duration // from the beginning of the measured window
	Whom  Whom
	Steps []Step // one at least; the first is done at once
}

// A Step is one thing that is done.
type Step struct {
	After time.Duration // the step before
	Verb  Verb
	By    time.Duration // of delay: each way
	To    int64         // of throttle: bytes a second, each way
	Reply drivers.Op    // of lose: the operation whose reply is lost
}

// End is when its last step is due.
func (f Fault) End() time.Duration {
	end := f.At
	for _, s := range f.Steps {
		end += s.After
	}
	return end
}

// String is what Parse reads, shorter where one verb undoes the other.
func (f Fault) String() string {
	if f.withFor() {
		return fmt.Sprintf("at=%s %s for=%s", duration(f.At), f.Steps[0].words(f.Whom), duration(f.Steps[1].After))
	}
	text := "at=" + duration(f.At)
	for i, s := range f.Steps {
		if i == 0 {
			text += " " + s.words(f.Whom)
			continue
		}
		text += ", " + s.words(Whom{}) + " after=" + duration(s.After)
	}
	return text
}

// withFor tells whether it is something that is undone after a while, and no more.
func (f Fault) withFor() bool {
	d, _ := find(f.Steps[0].Verb)
	return len(f.Steps) == 2 && d.undone != "" && f.Steps[1].Verb == d.undone
}

func (s Step) words(w Whom) string {
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
	return strings.Join(all, " ")
}

// Divides tells whether something is done to what members say to each other.
func (s Schedule) Divides() bool {
	for _, f := range s {
		for _, step := range f.Steps {
			if f.Whom.servers() && step.Verb.onLines() {
				return true
			}
		}
	}
	return false
}

// onLines tells whether it is done to connections, which mend makes good: to those
// between servers, if to servers.
func (v Verb) onLines() bool {
	d, _ := find(v)
	return v == Mend || d.undone == Mend
}

// OnClients tells whether something is done to sessions or their connections.
func (s Schedule) OnClients() bool {
	for _, f := range s {
		if !f.Whom.servers() {
			return true
		}
	}
	return false
}

// String is a fault a line.
func (s Schedule) String() string {
	var lines []string
	for _, f := range s {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// duration is without the zeros of time.Duration: 1m, not 1m0s.
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

// units of a throttle, the largest first.
var units = []struct {
	name string
	size int64
}{{"m", 1 << 20}, {"k", 1 << 10}}

// lossy are the operations whose replies can be lost.
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
