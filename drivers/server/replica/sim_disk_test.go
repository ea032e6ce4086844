package replica

import (
	"maps"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
)

// A simDisk is a raft.Storage that keeps what was synced over a crash.
type simDisk struct {
	*raft.MemoryStorage
	sections [][]byte             // of the last snapshot
	unsynced *pb.HardState        // saved without a sync
	history  map[uint64]*pb.Entry // every entry ever saved
	joining  bool
	queue    []Append
	busy     bool
}

func newDisk() *simDisk {
	return &simDisk{MemoryStorage: raft.NewMemoryStorage(), history: map[uint64]*pb.Entry{}, joining: true}
}

// copy returns a copy of what was synced.
func (d *simDisk) copy() *simDisk {
	c := newDisk()
	first, _ := d.FirstIndex()
	last, _ := d.LastIndex()
	term, err := d.Term(first - 1)
	if err == nil && first > 1 {
		err = c.ApplySnapshot(&pb.Snapshot{Metadata: &pb.SnapshotMetadata{Index: new(first - 1), Term: new(term), ConfState: &pb.ConfState{}}})
	}
	var entries []*pb.Entry
	if err == nil && last >= first {
		if entries, err = d.Entries(first, last+1, 1<<40); err == nil {
			err = c.Append(entries)
		}
	}
	if shot, _ := d.Snapshot(); err == nil && shot.GetMetadata().GetIndex() >= first {
		_, err = c.CreateSnapshot(shot.GetMetadata().GetIndex(), &pb.ConfState{}, nil)
	}
	if err != nil {
		panic(err)
	}
	if h, _, _ := d.MemoryStorage.InitialState(); h != nil {
		c.SetHardState(h)
	}
	c.sections, c.history = d.sections, maps.Clone(d.history)
	return c
}

// save makes an append durable.
func (d *simDisk) save(a *Append, sections [][]byte) {
	if a.Snapshot != nil {
		if err := d.ApplySnapshot(a.Snapshot); err != nil {
			panic(err)
		}
		d.sections = sections
		clear(d.history) // some of it may have been replaced elsewhere
	}
	if a.State != nil {
		d.unsynced = a.State
	}
	if a.MustSync && d.unsynced != nil {
		d.SetHardState(d.unsynced)
		d.unsynced = nil
	}
	if err := d.Append(a.Entries); err != nil {
		panic(err)
	}
	for _, e := range a.Entries {
		d.history[e.GetIndex()] = e
	}
}

// crash loses what is not synced. Some of it may have reached the disk in its order.
func (d *simDisk) crash(w *world, received map[uint64][][]byte) {
	for i := range d.queue {
		a := &d.queue[i]
		if w.chance(0.6) || a.Snapshot != nil && received[a.Snapshot.GetMetadata().GetIndex()] == nil {
			break
		}
		var sections [][]byte
		if a.Snapshot != nil {
			sections = received[a.Snapshot.GetMetadata().GetIndex()]
		}
		d.save(a, sections)
	}
	d.queue, d.busy, d.unsynced = nil, false, nil
}

// state returns the state of the last snapshot.
func (d *simDisk) state(p *program) (*State, error) {
	if d.sections == nil {
		return NewState(), nil
	}
	return p.readState(sectionsOf(d.sections))
}

// holds reports whether the entry is on disk, or in a snapshot on disk.
func (d *simDisk) holds(index, term uint64) bool {
	first, _ := d.FirstIndex()
	if index < first {
		return true
	}
	got, err := d.Term(index)
	return err == nil && got == term
}

// InitialState returns a commit index that is at least that of the last snapshot.
func (d *simDisk) InitialState() (*pb.HardState, *pb.ConfState, error) {
	h, c, err := d.MemoryStorage.InitialState()
	if s, _ := d.Snapshot(); s.GetMetadata().GetIndex() > h.GetCommit() {
		h = &pb.HardState{Term: new(h.GetTerm()), Vote: new(h.GetVote()), Commit: new(s.GetMetadata().GetIndex())}
	}
	return h, c, err
}
