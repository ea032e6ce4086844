package server

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// A disk writes what a member appends to its log. One goroutine writes everything that has gathered
// while it wrote the last time, with one sync.
type disk struct {
	ensemble *ensemble

	mu       sync.Mutex
	changed  *sync.Cond
	queue    []replica.Append
	added    int64 // number of appends ever added
	written  int64 // and of those that the member knows to be written
	closed   bool
	received *raftlog.Received // a snapshot from another member
}

func newDisk(e *ensemble) *disk {
	d := &disk{ensemble: e}
	d.changed = sync.NewCond(&d.mu)
	return d
}

func (d *disk) add(all []replica.Append) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, all...)
	d.added += int64(len(all))
	d.changed.Broadcast()
}

func (d *disk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.changed.Broadcast()
}

// take waits for appends and returns all. It returns nil when the server is closed.
func (d *disk) take() (all []replica.Append) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) == 0 && !d.closed {
		d.changed.Wait()
	}
	if d.closed {
		return nil
	}
	all, d.queue = d.queue, nil
	return all
}

func (d *disk) wrote(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written += int64(n)
	d.changed.Broadcast()
}

// settle waits until everything that was added so far is written. It returns false if the server is
// closed.
func (d *disk) settle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for added := d.added; d.written < added && !d.closed; {
		d.changed.Wait()
	}
	return !d.closed
}

// run writes until the server is closed.
func (d *disk) run() {
	e := d.ensemble
	for {
		all := d.take()
		if all == nil {
			return
		}
		for len(all) > 0 {
			n, state, err := d.write(all)
			if err != nil {
				e.do(func() { e.fail(fmt.Errorf("member %d: %w", e.settings.ID, err)) })
				d.close()
				return
			}
			e.do(func() {
				for i := range all[:n] {
					e.member.Saved(&all[i], state)
				}
			})
			d.wrote(n)
			all = all[n:]
		}
	}
}

// write writes appends up to the next snapshot, or a snapshot and its state.
func (d *disk) write(all []replica.Append) (n int, _ *replica.State, err error) {
	if all[0].Snapshot != nil {
		state, err := d.install(&all[0])
		return 1, state, err
	}
	var entries []*pb.Entry
	var hard *pb.HardState
	sync := false
	for n < len(all) && all[n].Snapshot == nil {
		a := &all[n]
		entries = replaced(entries, a.Entries)
		if a.State != nil {
			hard = a.State
		}
		sync = sync || a.MustSync
		n++
	}
	return n, nil, d.ensemble.log.Append(hard, entries, sync)
}

// replaced returns the entries after later ones have replaced those with the same or higher indexes.
func replaced(entries, later []*pb.Entry) []*pb.Entry {
	if len(entries) == 0 || len(later) == 0 {
		return append(entries, later...)
	}
	first, next := entries[0].GetIndex(), later[0].GetIndex()
	if next <= first {
		return later
	}
	return append(entries[:next-first:next-first], later...)
}

// receive lets the member take a snapshot that another one sent.
func (d *disk) receive(x replica.Message, got *raftlog.Received) error {
	d.mu.Lock()
	d.received = got
	d.mu.Unlock()
	d.ensemble.do(func() { d.ensemble.member.Step(x) })
	if !d.settle() {
		return errors.Join(errors.New("the server is closed"), got.Discard())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.received == got { // the member did not need it
		d.received = nil
		return got.Discard()
	}
	return nil
}

// install replaces the log by a received snapshot and returns its state.
func (d *disk) install(a *replica.Append) (*replica.State, error) {
	d.mu.Lock()
	got := d.received
	d.received = nil
	d.mu.Unlock()
	if got == nil || got.Metadata().GetIndex() != a.Snapshot.GetMetadata().GetIndex() {
		return nil, fmt.Errorf("snapshot of entry %d is missing", a.Snapshot.GetMetadata().GetIndex())
	}
	if err := d.ensemble.log.Install(got, a.State); err != nil {
		return nil, err
	}
	state, err := lastState(d.ensemble.log)
	if err != nil {
		return nil, err
	}
	if len(a.Entries) > 0 {
		err = d.ensemble.log.Append(nil, a.Entries, true)
	}
	return state, err
}

// errAbandoned discards a snapshot.
var errAbandoned = errors.New("snapshot abandoned")

func (e *ensemble) saveSnapshot() {
	var shot *replica.Snapshot
	var of *replica.State
	e.do(func() {
		of = e.member.State()
		shot = of.Snapshot()
	})
	if shot == nil || !e.disk.settle() { // the log must know that the entry is committed
		return
	}
	err := e.log.SaveSnapshot(shot.Index, func(add func([]byte) error) error {
		for {
			section, err := e.section(shot, of)
			if err != nil || section == nil {
				return err
			}
			if err := add(section); err != nil {
				return err
			}
		}
	})
	e.do(shot.End)
	if err == nil {
		err = e.compact(shot.Index)
	}
	if err != nil && !errors.Is(err, errAbandoned) && !errors.Is(err, raft.ErrSnapOutOfDate) && !errors.Is(err, raft.ErrCompacted) {
		e.do(func() { e.fail(fmt.Errorf("member %d: %w", e.settings.ID, err)) })
	}
}

// section returns the next section of a snapshot of a state.
func (e *ensemble) section(shot *replica.Snapshot, of *replica.State) (section []byte, err error) {
	err = errAbandoned
	e.do(func() {
		if e.member.State() == of {
			section, err = shot.Next(), nil
		}
	})
	return section, err
}

// The log keeps some entries before a snapshot, so that members that are a little behind need no
// snapshot.
const (
	keptEntries = 10_000
	keptBytes   = 16 << 20
)

// compact forgets the entries before a snapshot, except for the last ones.
func (e *ensemble) compact(index uint64) error {
	first, err := e.log.FirstIndex()
	if err != nil || first > index {
		return err
	}
	entries, err := e.log.Entries(max(first, index-min(index, keptEntries)+1), index+1, math.MaxUint64)
	if err != nil {
		return err
	}
	bytes := 0
	for i := len(entries) - 1; i >= 0; i-- {
		if bytes += len(entries[i].GetData()); bytes > keptBytes {
			return e.log.Compact(entries[i].GetIndex())
		}
	}
	return e.log.Compact(entries[0].GetIndex() - 1)
}
