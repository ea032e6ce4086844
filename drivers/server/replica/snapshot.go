package replica

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Snapshot is a State at one point in time, read in sections while the state changes.
type Snapshot struct {
	head []byte // everything but the nodes
	tree *tree.Snapshot
	// Index and Term are those of the last entry that the snapshot includes.
	Index, Term uint64
}

// A section begins with its kind.
const (
	headSection byte = iota + 1
	nodeSection
	endSection // the digest of the state
)

// Snapshot starts a snapshot. A state has at most one at a time, until its end is read or End is
// called.
func (s *State) Snapshot() *Snapshot {
	shot := &Snapshot{tree: s.tree.Snapshot(), Index: s.index, Term: s.term}
	b := []byte{headSection, cmp.Or(s.version, s.program.oldest)}
	for _, v := range [...]uint64{s.ensemble, s.index, s.term, uint64(s.tree.Zxid()), uint64(s.time), s.Digest()} {
		b = wire.AppendLong(b, int64(v))
	}
	b = wire.AppendInt(b, int32(len(s.origins)))
	for _, id := range s.members() {
		o := s.origins[id]
		b = wire.AppendLong(wire.AppendLong(wire.AppendLong(b, int64(id)), int64(o.boot)), int64(o.seq))
	}
	b = wire.AppendInt(b, int32(len(s.owners)))
	for id, o := range s.owners {
		b = appendOwner(b, id, o)
	}
	sessions := shot.tree.Sessions()
	b = wire.AppendInt(b, int32(len(sessions)))
	for i := range sessions {
		b = codec.AppendSession(b, &sessions[i])
	}
	shot.head = b
	return shot
}

func appendOwner(b []byte, session int64, o Owner) []byte {
	b = wire.AppendLong(wire.AppendLong(b, session), int64(o.Member))
	return wire.AppendInt(wire.AppendLong(b, int64(o.Generation)), o.Timeout)
}

// End ends the snapshot, even if it was not read completely.
func (x *Snapshot) End() {
	if x.tree != nil {
		x.tree.End()
	}
}

// perSection is the number of nodes of a section. The caller holds back changes of the state
// while it reads one.
const perSection = 256

// Next returns the next section, or nil after the last. The state must not change meanwhile.
func (x *Snapshot) Next() []byte {
	if head := x.head; head != nil {
		x.head = nil
		return head
	}
	if x.tree == nil {
		return nil
	}
	images, more := x.tree.Next(nil, perSection)
	b := []byte{nodeSection}
	if !more {
		b[0] = endSection
		x.tree = nil
	}
	for i := range images {
		b = codec.AppendImage(b, &images[i])
	}
	return b
}

// ReadState builds a state from the sections of a snapshot. The function next returns them, and
// io.EOF behind the last.
func ReadState(next func() ([]byte, error)) (*State, error) { return current.readState(next) }

func (p *program) readState(next func() ([]byte, error)) (*State, error) {
	r := reading{program: p, next: next}
	if err := r.head(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := r.nodes(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return r.state, nil
}

// A reading reads a snapshot.
type reading struct {
	program *program
	next    func() ([]byte, error)
	state   *State
	nodeT   *tree.Restoration
	want    uint64 // the state's digest
}

var errSection = errors.New("not a section of a snapshot")

func (r *reading) head() error {
	b, err := r.next()
	if err != nil {
		return err
	}
	d := codec.NewDecoder(b)
	kind, version := d.Byte(), d.Byte()
	if d.Err() != nil || kind != headSection {
		return errSection
	}
	if err := r.program.reads(version); err != nil {
		return err
	}
	s := newState(nil)
	s.program = r.program
	s.ensemble, s.index, s.term = uint64(d.Long()), uint64(d.Long()), uint64(d.Long())
	if s.ensemble != 0 { // the head is written in the version in force
		s.version = version
	}
	zxid := d.Long()
	s.time, r.want = d.Long(), uint64(d.Long())
	for range d.Len(24) {
		id := uint64(d.Long())
		s.origins[id] = origin{uint64(d.Long()), uint64(d.Long())}
	}
	for range d.Len(28) {
		id := d.Long()
		s.own(id, Owner{Member: uint64(d.Long()), Generation: uint64(d.Long()), Timeout: d.Int()})
	}
	var sessions []tree.Session
	for range d.Len(8) {
		sessions = append(sessions, d.Session())
	}
	r.state, r.nodeT = s, tree.Restore(zxid, sessions)
	return d.Err()
}

func (r *reading) nodes() error {
	for last := false; !last; {
		b, err := r.next()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		d := codec.NewDecoder(b)
		kind := d.Byte()
		if last = kind == endSection; !last && kind != nodeSection {
			return errSection
		}
		if err := r.images(&d); err != nil {
			return err
		}
	}
	var err error
	if r.state.tree, err = r.nodeT.Tree(); err != nil {
		return err
	}
	r.state.tree.KeepDigest()
	if got := r.state.Digest(); got != r.want {
		return fmt.Errorf("it has digest %016x, and the state that was saved had %016x", got, r.want)
	}
	return nil
}

func (r *reading) images(d *codec.Decoder) error {
	for len(d.Rest()) > 0 {
		i := d.Image()
		if d.Err() != nil {
			return d.Err()
		}
		if err := r.nodeT.Add(&i); err != nil {
			return err
		}
	}
	return nil
}
