package replica

import (
	"errors"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Kind is the kind of an entry of the log.
type Kind byte

const (
	// Request is a transaction that a client requested.
	Request Kind = iota + 1
	// Open opens a session.
	Open
	// Move gives a session to the member that proposes it, for a client that reconnected there.
	Move
	// Expire closes a session whose client was not heard of. Only a leader proposes it.
	Expire
	// Reap deletes an unused container or a node whose TTL has passed. Only a leader proposes it.
	Reap
	// Compare holds a member's digest of the state after an earlier entry.
	Compare
	// Register makes a start of a member the one whose proposals are applied.
	Register
)

// An entry is the content of one entry of the log.
type entry struct {
	Kind   Kind
	Origin uint64 // the member that proposed it
	Boot   uint64 // the start of that member
	Seq    uint64 // number of the proposal since that start, from 1; 0 for kinds without one

	Session    int64
	Generation uint64 // Request, Expire: the session's generation that the proposal is for
	Txn        tree.Txn
	Term       uint64 // Expire, Reap, Compare: the term of the leader that proposed it; Compare: 0 if a follower did
	Index      uint64 // Compare: the entry whose state the digest is of
	Digest     uint64 // Compare
	Before     uint64 // Register: the start that it replaces
}

// version is the version of the entries' encoding and of the rules by which State.apply applies
// them, the first byte of each entry. A change of either must increment it.
const version = 1

func (e *entry) append(b []byte) []byte {
	b = append(b, version, byte(e.Kind))
	for _, v := range [...]uint64{e.Origin, e.Boot, e.Seq, uint64(e.Session), e.Generation, e.Term, e.Index, e.Digest, e.Before} {
		b = wire.AppendLong(b, int64(v))
	}
	return codec.AppendTxn(b, &e.Txn)
}

var errEntry = errors.New("not an entry of this version")

func decodeEntry(b []byte) (e entry, err error) {
	d := codec.NewDecoder(b)
	v := d.Byte()
	e.Kind = Kind(d.Byte())
	var session uint64
	for _, f := range [...]*uint64{&e.Origin, &e.Boot, &e.Seq, &session, &e.Generation, &e.Term, &e.Index, &e.Digest, &e.Before} {
		*f = uint64(d.Long())
	}
	e.Session = int64(session)
	e.Txn = d.Txn()
	if d.Err() != nil || v != version || e.Kind < Request || e.Kind > Register {
		return e, errEntry
	}
	return e, nil
}

// proposed reports whether the entry is a numbered proposal, which is applied once.
func (k Kind) proposed() bool { return k <= Move }
