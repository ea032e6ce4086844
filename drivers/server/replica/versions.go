package replica

import (
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A program has the versions that it reads. All members of an ensemble have the same one, except during an update.
type program struct {
	oldest  byte
	formats []format // of the oldest version and those that follow it
}

// A format is a version: how its entries are encoded, and by which rules they are applied.
type format struct {
	// append adds what follows the version, the kind and the time of an entry, which are at the same place in
	// every version. decode is its inverse. They take values: what a pointer points to would be allocated.
	append func(b []byte, e entry) []byte
	decode func(b []byte) (entry, error)
	// amend returns what is applied instead of an entry's transaction while the version is in force; nil changes
	// nothing. Rules that cannot be expressed so ask for State.version.
	amend func(x tree.Txn) tree.Txn
}

// current is this program. A change of the encoding or of the rules by which State.apply applies entries adds a version.
// The version before stays, so that members can be updated one after the other. It can be removed when no log and no
// snapshot has it any more, which are older than the version in force until the next snapshots are due.
var current = &program{oldest: 2, formats: []format{{append: appendFields, decode: decodeFields}}}

func (p *program) newest() byte { return p.oldest + byte(len(p.formats)) - 1 }

// format returns a version that the program knows.
func (p *program) format(version byte) *format { return &p.formats[version-p.oldest] }

// timeAt is where the time is in an entry, and fieldsAt where the rest begins, in every version.
const (
	timeAt   = 2
	fieldsAt = timeAt + 8
)

// append adds an entry in its version.
func (p *program) append(b []byte, e *entry) []byte {
	b = append(b, e.version, byte(e.Kind))
	return p.format(e.version).append(wire.AppendLong(b, e.Time), *e)
}

// reads returns an error if the program does not know a version.
func (p *program) reads(version byte) error {
	if version < p.oldest || version > p.newest() {
		return &unreadable{version, p.oldest, p.newest()}
	}
	return nil
}

func (p *program) decode(b []byte) (e entry, err error) {
	d := codec.NewDecoder(b)
	version, kind, at := d.Byte(), Kind(d.Byte()), d.Long()
	if d.Err() != nil {
		return e, errEntry
	}
	if err := p.reads(version); err != nil {
		return e, err
	}
	if e, err = p.format(version).decode(b[fieldsAt:]); err != nil || kind < Request || kind > Raise {
		return e, errEntry
	}
	e.version, e.Kind, e.Time = version, kind, at
	return e, nil
}

// unreadable is the error of a program that finds a version which it does not know.
type unreadable struct{ found, oldest, newest byte }

func (u *unreadable) Error() string {
	if u.found > u.newest {
		return fmt.Sprintf("it has version %d, and this program reads up to version %d: start a newer program, which reads version %d",
			u.found, u.newest, u.found)
	}
	return fmt.Sprintf("it has version %d, and this program reads from version %d on: start an older program, which reads version %d",
		u.found, u.oldest, u.found)
}

// Versions are what members tell each other when they connect: the oldest and the newest version that the program reads,
// and the one that is in force as far as the member knows, 0 if it has no state yet.
type Versions struct{ Oldest, Newest, InForce byte }

// Versions returns what the member tells others.
func (m *Member) Versions() Versions {
	return Versions{m.config.program.oldest, m.config.program.newest(), m.state.version}
}

// Check returns why a member and another one cannot work together, in words for both, or nil: each must read what is in
// force at the other, and there must be a version that both read.
func (v Versions) Check(id uint64, other Versions, otherID uint64) error {
	switch {
	case v.Newest < other.least():
		return v.outdated(id, other.least(), otherID)
	case other.Newest < v.least():
		return other.outdated(otherID, v.least(), id)
	case other.InForce != 0 && other.InForce < v.Oldest:
		return v.ahead(id, other.InForce, otherID)
	case v.InForce != 0 && v.InForce < other.Oldest:
		return other.ahead(otherID, v.InForce, id)
	}
	return nil
}

// least returns the version that others must read at least.
func (v Versions) least() byte { return max(v.Oldest, v.InForce) }

func (v Versions) outdated(id uint64, version byte, other uint64) error {
	return fmt.Errorf("member %d reads the log up to version %d, and member %d writes version %d: update member %d first",
		id, v.Newest, other, version, id)
}

func (v Versions) ahead(id uint64, version byte, other uint64) error {
	return fmt.Errorf("member %d reads the log from version %d on, and member %d writes version %d: update all members to a program that reads both first",
		id, v.Oldest, other, version)
}

// versions are what the member knows of those of others.
type versions struct {
	newest  map[uint64]byte // that each other member knows, by its last message; a leader's are those since it leads
	written byte            // the highest version of an entry in the log since the last snapshot
	raised  uint64          // the term in which a raise was proposed
}

// init reads the log: a member that cannot read all of it must not begin to write.
func (v *versions) init(m *Member) error {
	v.newest = map[uint64]byte{}
	first, err := m.config.Storage.FirstIndex()
	if err != nil {
		return err
	}
	for next := max(first, m.state.index+1); next <= m.last; {
		entries, err := m.config.Storage.Entries(next, m.last+1, 1<<20)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := m.readable(e); err != nil {
				return err
			}
			v.wrote(e)
		}
		next += uint64(len(entries))
	}
	return nil
}

// readable returns an error if an entry has a version that the program does not know.
func (m *Member) readable(e *pb.Entry) error {
	if len(e.GetData()) == 0 { // of a new leader
		return nil
	}
	if err := m.config.program.reads(e.GetData()[0]); err != nil {
		return fmt.Errorf("entry %d of the log: %w", e.GetIndex(), err)
	}
	return nil
}

// wrote takes note of an entry of the log.
func (v *versions) wrote(e *pb.Entry) {
	if len(e.GetData()) > 0 {
		v.written = max(v.written, e.GetData()[0])
	}
}

// common returns the newest version that all members know, or 0 if it is not known of each.
func (v *versions) common(m *Member) byte {
	common := m.config.program.newest()
	for _, id := range m.config.Members {
		if id == m.config.ID {
			continue
		}
		newest := v.newest[id]
		if !m.hears(id) || newest == 0 {
			return 0
		}
		common = min(common, newest)
	}
	return common
}

// tick proposes to bring a newer version into force as soon as all members know it.
func (v *versions) tick(m *Member) {
	if !m.leads() || m.state.version == 0 || v.raised == m.term {
		return
	}
	if common := v.common(m); common > m.state.version {
		e := entry{version: common, Kind: Raise, Origin: m.config.ID, Term: m.term}
		if m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}}) {
			v.raised = m.term
		}
	}
}

// encode adds an entry. It is in the version in force unless it has a version already.
func (m *Member) encode(b []byte, e *entry) []byte {
	if e.version == 0 {
		e.version = m.state.version
	}
	return m.config.program.append(b, e)
}
