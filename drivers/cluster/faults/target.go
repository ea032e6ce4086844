package faults

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// Target is the target of a fault. The zero Target is none.
type Target struct {
	word  string  // one of the constants below
	n     int     // for member and client: the number, from 1
	share float64 // for clients: the share; 1 means all
}

const (
	leader   = "leader"   // the leader when the fault begins
	follower = "follower" // a running server that does not lead
	member   = "member"   // member=2
	members  = "members"  // members=all
	holder   = "holder"   // the client that holds what all compete for
	client   = "client"   // client=3
	clients  = "clients"  // clients=25% or clients=all
)

func words() []string { return []string{leader, follower, member, members, holder, client, clients} }

// servers reports whether the targets are servers.
func (w Target) servers() bool {
	switch w.word {
	case leader, follower, member, members:
		return true
	}
	return false
}

// String returns the form that parseTarget reads.
func (w Target) String() string {
	switch {
	case w.word == member || w.word == client:
		return w.word + "=" + strconv.Itoa(w.n)
	case w.word == members || w.word == clients && w.share == 1:
		return w.word + "=all"
	case w.word == clients:
		return w.word + "=" + strconv.FormatFloat(100*w.share, 'f', -1, 64) + "%"
	}
	return w.word
}

func parseTarget(text string) (Target, error) {
	word, value, given := strings.Cut(text, "=")
	w := Target{word: word}
	var err error
	switch word {
	case leader, follower, holder:
		if given {
			return Target{}, fmt.Errorf("%s takes no value", word)
		}
	case member, client:
		if w.n, err = strconv.Atoi(value); err != nil || w.n < 1 {
			return Target{}, fmt.Errorf("%s: want %s=1, %s=2, …", text, word, word)
		}
	case members:
		if value != "all" {
			return Target{}, fmt.Errorf("%s: want members=all, member=1, leader or follower", text)
		}
	case clients:
		w.share, err = parseShare(value)
	default:
		return Target{}, suggest.Unknown("target", word, words())
	}
	return w, err
}

// parseShare parses "25%" or "all".
func parseShare(value string) (float64, error) {
	if value == "all" {
		return 1, nil
	}
	number, percent := strings.CutSuffix(value, "%")
	share, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(share > 0) || share > 100 {
		return 0, fmt.Errorf("clients=%s: want a share such as clients=25%%, or clients=all", value)
	}
	return share / 100, nil
}

// chosen are the targets of a fault.
type chosen struct {
	name             string // "member 2, the leader"
	servers, clients []int
}

const (
	// patience is how long a fault waits for a target: an election may be in progress.
	patience = 15 * time.Second
	again    = 10 * time.Millisecond
)

// claim reports whether this process performs the fault. Of several processes, the first one whose client holds
// performs it. If no client holds while a fault waits, one of the processes returns an error.
func (d *doing) claim(ctx context.Context, fault int, w Target) (bool, error) {
	if w.word != holder || d.Claims == nil {
		return true, nil
	}
	looks, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if d.Claims.Await(looks, fault) == nil {
			cancel()
		}
	}()
	who, none := d.find(looks, fault, w)
	if who == nil && none == nil { // another process has claimed it, or the run has ended
		return false, nil
	}
	ours, err := d.Claims.Claim(ctx, fault)
	if err != nil || !ours {
		return false, err
	}
	return true, none
}

// find returns the current targets. It waits for a target up to patience, and returns nil if the
// context ends.
func (d *doing) find(ctx context.Context, fault int, w Target) (*chosen, error) {
	deadline := time.Now().Add(patience)
	for {
		if who := d.choose(ctx, fault, w); who != nil || ctx.Err() != nil {
			return who, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("there was no %s for %v", w, patience)
		}
		if !waitUntil(ctx, time.Now().Add(again)) {
			return nil, nil
		}
	}
}

func (d *doing) choose(ctx context.Context, fault int, w Target) *chosen {
	switch w.word {
	case leader, follower:
		return d.byRole(ctx, w.word == leader)
	case member:
		return d.named([]int{w.n - 1}, "")
	case members:
		return d.named(firsts(len(d.Servers)), "")
	case holder:
		if i, holds := d.Holder(); holds {
			return &chosen{name: fmt.Sprintf("client %d, the holder", i+1), clients: []int{i}}
		}
		return nil
	case client:
		return &chosen{name: fmt.Sprintf("client %d", w.n), clients: []int{w.n - 1}}
	}
	all := d.drawn[fault]
	return &chosen{name: fmt.Sprintf("%d of %d clients", len(all), len(d.Clients)), clients: all}
}

// byRole asks the servers that take part, in random order, whether they lead. A server that does
// not lead is a follower only if another one leads. Of several candidates it chooses one with the
// fewest faults so far.
func (d *doing) byRole(ctx context.Context, leads bool) *chosen {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	found := -1
	led := false
	for _, i := range d.drawNumbers(len(d.Servers), len(d.Servers)) {
		if !d.takesPart(i) {
			continue
		}
		l, err := d.Servers[i].Leads(ctx)
		if err != nil {
			continue
		}
		led = led || l
		if l == leads && (found < 0 || d.hurts(i) < d.hurts(found)) {
			found = i
		}
	}
	if !led || found < 0 {
		return nil
	}
	if leads {
		return d.named([]int{found}, ", the leader")
	}
	return d.named([]int{found}, ", a follower")
}

func (d *doing) named(servers []int, role string) *chosen {
	var names []string
	for _, i := range servers {
		names = append(names, d.Servers[i].Name())
	}
	word := "member "
	if len(names) > 1 {
		word = "members "
	}
	return &chosen{name: word + strings.Join(names, ", ") + role, servers: servers}
}

// server performs a step on one server and records its state.
func (d *doing) server(ctx context.Context, step FaultAction, i int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.Servers[i]
	d.hurt[i]++
	switch step.Verb {
	case Kill:
		d.down[i] = Kill
		return s.Kill()
	case Stop:
		d.down[i] = Stop
		return s.Stop()
	case Continue:
		delete(d.down, i)
		return s.Continue()
	case FillDisk:
		d.full[i] = true
		return s.FillDisk()
	case Isolate:
		d.apart[i] = true
		return s.Isolate()
	case Delay:
		d.slow[i] = true
		return s.Delay(step.By)
	case Throttle:
		d.slow[i] = true
		return s.Throttle(step.To)
	case Restore:
		delete(d.apart, i)
		delete(d.slow, i)
		return s.Restore()
	}
	if d.down[i] != Kill {
		if err := s.Kill(); err != nil {
			return err
		}
	}
	delete(d.down, i)
	delete(d.full, i)
	return s.Restart(ctx)
}

func (d *doing) hurts(i int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hurt[i]
}

// takesPart reports whether a server runs, can write and is not isolated. An isolated leader may
// report that it leads until it notices the isolation.
func (d *doing) takesPart(i int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, down := d.down[i]
	return !down && !d.full[i] && !d.apart[i]
}

// restoreAll restores all servers and clients. It continues after an error.
func (d *doing) restoreAll(ctx context.Context) error {
	var errs []error
	for i := range d.Servers {
		switch {
		case d.down[i] == Kill || d.full[i]:
			errs = append(errs, d.server(ctx, FaultAction{Verb: Restart}, i))
		case d.down[i] == Stop:
			errs = append(errs, d.server(ctx, FaultAction{Verb: Continue}, i))
		}
		if d.apart[i] || d.slow[i] {
			errs = append(errs, d.server(ctx, FaultAction{Verb: Restore}, i))
		}
	}
	for _, c := range d.Clients {
		c.Link().Restore()
		c.Thaw()
	}
	return errors.Join(errs...)
}
