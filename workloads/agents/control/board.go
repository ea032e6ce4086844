package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A Board passes messages among the processes of a run. Each process has a node of its own, which all others
// watch. Its data are the latest messages of the process: those that not all others have read yet.
type Board struct {
	plane  *Plane
	node   string
	mine   string
	others []string

	mu      sync.Mutex
	posted  nodeData
	written int64            // messages that are on the control plane
	read    map[string]int64 // by process: the messages of theirs that this process has taken
	theirs  map[string]int64 // by process: the messages of this process that they have taken
}

// A nodeData is the data of a process's node.
type nodeData struct {
	First    int64             // the number of the first message
	Messages []json.RawMessage `json:",omitempty"`
	Read     map[string]int64  `json:",omitempty"` // by process: how many messages of theirs this process has taken
}

func (s nodeData) end() int64 { return s.First + int64(len(s.Messages)) }

// Board returns the board of a name, for the process mine of all processes.
func (p *Plane) Board(ctx context.Context, name, mine string, all []string) (*Board, error) {
	node := boards + "/" + name
	if err := p.nodes.Make(ctx, node, nil); err != nil {
		return nil, fmt.Errorf("create a board on the control plane: %w", err)
	}
	others := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == mine })
	return &Board{plane: p, node: node, mine: mine, others: others, read: map[string]int64{}, theirs: map[string]int64{}}, nil
}

// Post posts a message, which must be JSON. It returns when the control plane has it. Only one goroutine may
// call it.
func (b *Board) Post(ctx context.Context, message []byte) error {
	b.mu.Lock()
	b.posted.Messages = append(b.posted.Messages, message)
	b.mu.Unlock()
	return b.write(ctx)
}

// write replaces the data of this process's node. It leaves out messages that all others have taken.
func (b *Board) write(ctx context.Context) error {
	b.mu.Lock()
	taken := b.posted.end()
	for _, name := range b.others {
		taken = min(taken, b.theirs[name])
	}
	if n := taken - b.posted.First; n > 0 {
		b.posted.First, b.posted.Messages = taken, slices.Clone(b.posted.Messages[n:])
	}
	b.posted.Read = b.read
	data, end := encode(b.posted), b.posted.end()
	b.mu.Unlock()
	if err := b.plane.nodes.Put(ctx, b.node+"/"+b.mine, data, 0); err != nil {
		return fmt.Errorf("post to the other processes: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written = end
	return nil
}

// Receive calls take with each message of the other processes, in the order in which each has posted its own,
// until the context ends. take is not called by two goroutines at the same time.
func (b *Board) Receive(ctx context.Context, take func(message []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var one sync.Mutex
	for _, name := range b.others {
		all.Go(func() {
			err := b.follow(ctx, name, func(message []byte) error {
				one.Lock()
				defer one.Unlock()
				return take(message)
			})
			cancel(fmt.Errorf("messages of %s: %w", name, err))
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// follow reads the node of another process whenever it has changed, until it cannot.
func (b *Board) follow(ctx context.Context, name string, take func([]byte) error) error {
	node := b.node + "/" + name
	if _, err := b.plane.await(ctx, node); err != nil {
		return err
	}
	for {
		var changed drivers.Wait
		text, _, err := b.plane.nodes.Get(ctx, node, changed.Fire)
		if err != nil {
			return err
		}
		var s nodeData
		if err := decode(text, &s); err != nil {
			return err
		}
		if err := b.take(name, s, take); err != nil {
			return err
		}
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// take takes the messages that are new.
func (b *Board) take(name string, s nodeData, take func([]byte) error) error {
	b.mu.Lock()
	next := b.read[name]
	b.theirs[name] = max(b.theirs[name], s.Read[b.mine])
	b.mu.Unlock()
	if next < s.First {
		return fmt.Errorf("messages %d to %d are missing", next, s.First-1)
	}
	for ; next < s.end(); next++ {
		if err := take(s.Messages[next-s.First]); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	read := map[string]int64{name: next} // another goroutine may be encoding the present one
	for other, n := range b.read {
		if other != name {
			read[other] = n
		}
	}
	b.read = read
	return nil
}

// Meet waits until n processes have come to the point, a name.
func (p *Plane) Meet(ctx context.Context, point string, n int) error {
	dir := barriers + "/" + point
	if err := p.nodes.Make(ctx, dir, []byte(strconv.Itoa(n))); err != nil {
		return err
	}
	return p.nodes.Meet(ctx, dir, n)
}

// StandIn enters all points whose names begin with the prefix in place of a process that is no longer a
// member, until the context ends, so that the others do not wait for that process.
func (p *Plane) StandIn(ctx context.Context, prefix string) error {
	var entered sync.WaitGroup
	defer entered.Wait()
	seen := map[string]bool{}
	for {
		var changed drivers.Wait
		all, err := p.nodes.Children(ctx, barriers, changed.Fire)
		if err != nil {
			return err
		}
		for _, c := range all {
			if seen[c.Name] || !strings.HasPrefix(c.Name, prefix) {
				continue
			}
			seen[c.Name] = true
			n, err := p.sizeOf(ctx, c.Name)
			if err != nil {
				return err
			}
			entered.Go(func() { _ = p.Meet(ctx, c.Name, n) }) // the others may need it no longer
		}
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// sizeOf returns how many processes meet at a point that some have come to.
func (p *Plane) sizeOf(ctx context.Context, point string) (int, error) {
	text, _, err := p.nodes.Get(ctx, barriers+"/"+point, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("read meeting point %s from the control plane: %q is not a number of processes", point, text)
	}
	return n, nil
}
