package faults

import (
	"context"
	"fmt"
	"strings"
	"time"
)

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
		if !until(ctx, time.Now().Add(again)) {
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
	for _, i := range d.some(len(d.Servers), len(d.Servers)) {
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
