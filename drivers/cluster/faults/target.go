package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	name  string  // for process and node
	once  string  // for servers: the ephemeral node that a client must have had before; "" if none
}

const (
	leader   = "leader"   // the leader when the fault begins
	follower = "follower" // a running server that does not lead
	member   = "member"   // member=2
	members  = "members"  // members=all
	holder   = "holder"   // the client that holds what all compete for
	client   = "client"   // client=3
	clients  = "clients"  // clients=25% or clients=all
	process  = "process"  // process=NAME or process=NUMBER: the clients of a process of this machine
	node     = "node"     // node=PATH: the client that has the ephemeral node
	once     = "once"     // once=PATH, after servers: when a client of another program has had the ephemeral node
)

func words() []string {
	return []string{leader, follower, member, members, holder, client, clients, process, node}
}

// place returns where such clients are.
func (w Target) place() place {
	switch w.word {
	case holder:
		return inRuns
	case process, node:
		return inPrograms
	}
	return everywhere
}

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
	if w.once != "" {
		text, path := w, w.once
		text.once = ""
		return text.String() + " " + once + "=" + path
	}
	switch {
	case w.word == member || w.word == client:
		return w.word + "=" + strconv.Itoa(w.n)
	case w.word == members || w.word == clients && w.share == 1:
		return w.word + "=all"
	case w.name != "":
		return w.word + "=" + w.name
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
	case process:
		if w.name = value; value == "" {
			return Target{}, fmt.Errorf("%s: want the name or the number of a process, such as process=java", text)
		}
	case node:
		if w.name = value; value == "" {
			return Target{}, fmt.Errorf("%s: want the path of an ephemeral node, such as node=/members/a", text)
		}
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
	name    string // "member 2, the leader"
	servers []int
	clients []numbered
}

// A numbered client is one with its number, from 1, in messages.
type numbered struct {
	Client
	number int
}

const (
	// patience is how long a fault waits for a target: an election may be in progress.
	patience = 15 * time.Second
	again    = 10 * time.Millisecond
)

// claim reports whether this process performs the fault. Of several processes, the first one whose client
// holds performs it. If no client holds while a fault waits, one of the processes returns an error.
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
			lacks := w.String()
			switch {
			case w.servers() && !d.meets():
				lacks = "connected client"
			case w.once != "" && !d.had[w.once]:
				lacks = "client with the node " + w.once
			}
			return nil, fmt.Errorf("there was no %s for %v", lacks, patience)
		}
		if !waitUntil(ctx, time.Now().Add(again)) {
			return nil, nil
		}
	}
}

// meets reports whether a client has come that faults of servers can show something of. Later it may be gone: a server that
// a fault has killed must not wait for it.
func (d *doing) meets() bool {
	d.met = d.met || d.Program == nil || len(d.Program.Clients()) > 0
	return d.met
}

// hasHad reports whether a client has the ephemeral node, or had it before an earlier fault: since then it may be gone.
func (d *doing) hasHad(path string) bool {
	d.had[path] = d.had[path] || len(d.Program.Named(false, path)) > 0
	return d.had[path]
}

func (d *doing) choose(ctx context.Context, fault int, w Target) *chosen {
	if w.servers() && (!d.meets() || w.once != "" && !d.hasHad(w.once)) {
		return nil
	}
	switch w.word {
	case leader, follower:
		return d.byRole(ctx, w.word == leader)
	case member:
		return d.named([]int{w.n - 1}, "")
	case members:
		return d.named(firsts(len(d.Servers)), "")
	}
	return d.ofClients(fault, w)
}

// ofClients chooses clients, nil if there is none.
func (d *doing) ofClients(fault int, w Target) *chosen {
	all := d.Clients
	if d.Program != nil {
		all = d.Program.Clients()
	}
	pick := func(which []int) (some []numbered) {
		for _, i := range which {
			number := i + 1
			if o, is := all[i].(Observed); is {
				number = o.Number()
			}
			some = append(some, numbered{all[i], number})
		}
		return some
	}
	switch w.word {
	case holder:
		if i, holds := d.Holder(); holds {
			return &chosen{name: fmt.Sprintf("client %d, the holder", i+1), clients: pick([]int{i})}
		}
		return nil
	case client:
		name := fmt.Sprintf("client %d", w.n)
		if d.Program == nil {
			return &chosen{name: name, clients: pick([]int{w.n - 1})}
		}
		switch c, gone := d.Program.Numbered(w.n); {
		case gone:
			return &chosen{name: name + ", which is gone"}
		case c != nil:
			return &chosen{name: name, clients: []numbered{{c, w.n}}}
		}
		return nil
	case process, node:
		named := d.Program.Named(w.word == process, w.name)
		which := slices.DeleteFunc(firsts(len(all)), func(i int) bool { return !slices.Contains(named, all[i]) })
		if len(which) == 0 {
			return nil
		}
		return &chosen{name: fmt.Sprintf("%s of %s", countOf(len(which)), w), clients: pick(which)}
	}
	which, drawn := d.drawn[fault]
	if !drawn && len(all) > 0 {
		which = d.drawNumbers(w.count(len(all)), len(all))
	}
	if len(which) == 0 && d.Program != nil {
		return nil
	}
	return &chosen{name: fmt.Sprintf("%d of %d clients", len(which), len(all)), clients: pick(which)}
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
		if err := s.Kill(); err != nil {
			return err
		}
		d.down[i] = Kill
		return nil
	case Stop:
		if err := s.Stop(); err != nil {
			return err
		}
		d.down[i] = Stop
		return nil
	case Continue:
		delete(d.down, i)
		return s.Continue()
	case FillDisk:
		d.full[i] = true
		return s.FillDisk()
	case HangDisk: // also at the end of the run: what was not frozen cannot be thawed
		err := s.HangDisk(context.WithoutCancel(ctx))
		d.hung[i] = d.hung[i] || err == nil
		return err
	case Thaw:
		delete(d.hung, i)
		return s.ThawDisk()
	case Isolate:
		d.apart[i] = true
		return s.Isolate(step.Direction)
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
	return !down && !d.full[i] && !d.hung[i] && !d.apart[i]
}

// restoreAll restores all servers and clients. It continues after an error.
func (d *doing) restoreAll(ctx context.Context) error {
	var errs []error
	for i := range d.Servers {
		if d.hung[i] {
			errs = append(errs, d.server(ctx, FaultAction{Verb: Thaw}, i))
		}
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
		restore(c)
		c.Thaw()
	}
	for c := range d.touched {
		restore(c)
	}
	return errors.Join(errs...)
}

func countOf(clients int) string {
	if clients == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", clients)
}
