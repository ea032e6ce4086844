package replica

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A State is the replicated state: it depends only on the entries applied, in their order.
type State struct {
	ensemble uint64 // its identity; 0 before it has one
	version  byte   // in force; 0 before there is one
	program  *program
	tree     *tree.Tree
	owners   map[int64]Owner
	origins  map[uint64]origin
	time     int64  // of the last transaction, by the clock of its leader, in milliseconds since 1970
	index    uint64 // of the last entry applied
	term     uint64 // of that entry
	digest   uint64 // of the owners
	counter  uint32 // the last counter that a zxid may have
}

// An Owner is the member that serves a session's client.
type Owner struct {
	Member     uint64
	Generation uint64 // index of the entry that made it the owner, so each owner has another one
	Timeout    int32  // of the session, in milliseconds
}

// An origin is the start of a member whose proposals are applied.
type origin struct{ boot, seq uint64 }

// NewState returns the state of an unused ensemble.
func NewState() *State {
	t := tree.New()
	t.KeepDigest()
	return newState(t)
}

func newState(t *tree.Tree) *State {
	return &State{tree: t, program: current, owners: map[int64]Owner{}, origins: map[uint64]origin{}, counter: math.MaxUint32}
}

// Tree returns the tree. Only the member may change it.
func (s *State) Tree() *tree.Tree { return s.tree }

// Ensemble returns the identity of the ensemble: a random number that its first leader has chosen, and 0 before.
func (s *State) Ensemble() uint64 { return s.ensemble }

// Index returns the index of the last entry applied.
func (s *State) Index() uint64 { return s.index }

// Owner returns a session's owner.
func (s *State) Owner(session int64) (Owner, bool) {
	o, ok := s.owners[session]
	return o, ok
}

// Owners yields the sessions and their owners in no particular order.
func (s *State) Owners() iter.Seq2[int64, Owner] {
	return func(yield func(int64, Owner) bool) {
		for id, o := range s.owners {
			if !yield(id, o) {
				return
			}
		}
	}
}

// An Applied is an entry that changed the state or that a client waits for.
type Applied struct {
	Kind    Kind
	Session int64
	Owner   Owner       // Open, Move: the new owner
	Result  tree.Result // its Ops are valid until the next entry is applied
	Events  []tree.Event
}

// apply applies an entry. It returns false for an entry that has no effect: a duplicate, one that
// came in the wrong order, or a leader's decision that no longer fits.
func (s *State) apply(index, term uint64, e *entry) (a Applied, effective bool) {
	s.index, s.term = index, term
	e.Txn.Time = cmp.Or(e.Time, s.time)
	a = Applied{Kind: e.Kind, Session: e.Session}
	switch {
	case e.Kind == Register:
		return a, s.register(e)
	case e.Kind == Begin:
		if s.ensemble == 0 {
			s.ensemble, s.version = e.Digest, e.version
		}
		return a, false
	case e.Kind == Raise:
		if e.Term == term {
			s.version = max(s.version, e.version)
		}
		return a, false
	case e.Kind == Compare:
		return a, true
	case s.version == 0: // nothing else is proposed before Begin
		return a, false
	case e.Kind.proposed() && s.origins[e.Origin] != (origin{e.Boot, e.Seq - 1}):
		return a, false
	case e.Kind == Withdrawn:
		s.origins[e.Origin] = origin{e.Boot, e.Seq}
		return a, true
	case !e.Kind.proposed() && !s.stands(term, e):
		return a, false
	case e.Kind != Move && !s.skipTo(term):
		return a, false
	}
	if e.Kind.proposed() {
		s.origins[e.Origin] = origin{e.Boot, e.Seq}
	}
	if amend := s.program.format(s.version).amend; amend != nil {
		e.Txn = amend(e.Txn)
	}
	s.time = e.Txn.Time
	s.execute(&a, e)
	return a, true
}

// stands reports whether a leader's decision still fits the state. An entry that an earlier leader
// proposed does not: the new one gives every session its whole time-out.
func (s *State) stands(term uint64, e *entry) bool {
	switch {
	case e.Term != term:
		return false
	case e.Kind == Expire:
		o, ok := s.owners[e.Session]
		return ok && o.Generation == e.Generation
	default:
		return s.tree.IsIdle(e.Txn.Path, e.Txn.Time)
	}
}

// skipTo prepares the next zxid: the term in the upper 32 bits, and in the lower a counter that
// starts from 1 in each term. It returns false if the term has no more zxids.
func (s *State) skipTo(term uint64) bool {
	if term > math.MaxInt32 {
		return false
	}
	s.tree.Skip(int64(term) << 32)
	return uint32(s.tree.Zxid()) < s.counter
}

func (s *State) execute(a *Applied, e *entry) {
	switch e.Kind {
	case Open:
		a.Result, a.Events = s.tree.Apply(e.Txn)
		if a.Result.Err == wire.OK {
			a.Owner = s.own(e.Session, Owner{e.Origin, s.index, e.Txn.Timeout})
		}
	case Move:
		a.Result.Zxid, a.Result.Err = s.tree.Zxid(), wire.ErrSessionExpired
		if x, ok := s.tree.Session(e.Session); ok && bytes.Equal(x.Password[:], e.Txn.Password[:]) {
			a.Result.Err = wire.OK
			a.Owner = s.own(e.Session, Owner{e.Origin, s.index, e.Txn.Timeout})
		}
	default:
		if e.Kind == Request {
			s.check(e)
		}
		a.Result, a.Events = s.tree.Apply(e.Txn)
		if e.Txn.Kind == tree.CloseSession && a.Result.Err == wire.OK {
			s.disown(e.Session)
		}
	}
}

// check refuses a request from a member that is no longer the owner of the client's session.
func (s *State) check(e *entry) {
	o, ok := s.owners[e.Session]
	refusal := wire.OK
	switch {
	case !ok:
		refusal = wire.ErrSessionExpired
	case o.Member != e.Origin || o.Generation != e.Generation:
		refusal = wire.ErrSessionMoved
	}
	if refusal != wire.OK {
		e.Txn.Op, e.Txn.Ops = tree.Op{Kind: tree.Refuse, Err: refusal}, nil
	}
}

// register makes e.Boot the start of e.Origin whose proposals are applied, if e.Before still is.
// No start of a member follows itself, so a late entry of an earlier start has no effect.
func (s *State) register(e *entry) bool {
	if s.origins[e.Origin].boot != e.Before {
		return false
	}
	s.origins[e.Origin] = origin{boot: e.Boot}
	return true
}

func (s *State) own(session int64, o Owner) Owner {
	s.disown(session)
	s.owners[session] = o
	s.digest += ownerDigest(session, o)
	return o
}

func (s *State) disown(session int64) {
	if o, ok := s.owners[session]; ok {
		s.digest -= ownerDigest(session, o)
		delete(s.owners, session)
	}
}

func ownerDigest(session int64, o Owner) uint64 {
	b := appendOwner(make([]byte, 0, 32), session, o)
	return xxhash.Sum64(b)
}

// Digest returns a value that is equal for equal states, and almost certainly different for others.
func (s *State) Digest() uint64 {
	b := make([]byte, 0, 128)
	for _, v := range [...]uint64{s.ensemble, s.tree.Digest(), s.digest, uint64(s.tree.Zxid()), uint64(s.time)} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	for _, id := range s.members() {
		o := s.origins[id]
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id), o.boot), o.seq)
	}
	return xxhash.Sum64(b)
}

// members returns the members with an origin, sorted.
func (s *State) members() []uint64 { return slices.Sorted(maps.Keys(s.origins)) }

// A Divergence is the error of a member whose state differs from that of others.
type Divergence struct {
	Index      uint64 // of the entry after which the states differ
	Own, Other uint64 // digests
	// Majority is true if Other is the digest of a majority. Otherwise it is the leader's, and it is
	// not known which of the two is right.
	Majority bool
}

func (d *Divergence) Error() string {
	if d.Majority {
		return fmt.Sprintf("the state after entry %d has digest %016x, and a majority of the members has %016x: remove this member's data directory, "+
			"and it gets the others' state", d.Index, d.Own, d.Other)
	}
	return fmt.Sprintf("the state after entry %d has digest %016x, the leader's has %016x, and no majority agrees: keep all data directories "+
		"until you know which state is right, and remove the other", d.Index, d.Own, d.Other)
}
