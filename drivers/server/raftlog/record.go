package raftlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// The kinds of records, stored in their first byte.
const (
	memberRecord byte = iota + 1 // the member and its group
	baseRecord                   // where the log begins
	stateRecord                  // the HardState
	entryRecord                  // one entry
)

// A position is the index and the term of an entry.
type position struct{ index, term uint64 }

// A base is the position before the first entry of a log.
type base struct {
	position
	installed bool // by Install: earlier logs do not count
}

// A state is a HardState.
type state struct{ term, vote, commit uint64 }

func stateOf(s *pb.HardState) state { return state{s.GetTerm(), s.GetVote(), s.GetCommit()} }

func (s state) hardState() *pb.HardState {
	return &pb.HardState{Term: &s.term, Vote: &s.vote, Commit: &s.commit}
}

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

func appendMember(b []byte, m Member) []byte {
	return appendVoters(appendNumbers(append(b, memberRecord), m.ID), m.Voters)
}

func appendVoters(b []byte, voters []uint64) []byte {
	return appendNumbers(appendNumbers(b, uint64(len(voters))), voters...)
}

func appendBase(b []byte, at base) []byte {
	b = appendNumbers(append(b, baseRecord), at.index, at.term)
	if at.installed {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendState(b []byte, s state) []byte {
	return appendNumbers(append(b, stateRecord), s.term, s.vote, s.commit)
}

// entryOverhead is the length of an entry's record without the data.
const entryOverhead = 1 + 8 + 8 + 1 + 4

func appendEntry(b []byte, e *pb.Entry) []byte {
	b = appendNumbers(append(b, entryRecord), e.GetIndex(), e.GetTerm())
	b = append(b, byte(e.GetType()))
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.GetData())))
	return append(b, e.GetData()...)
}

// A decoder reads records. After a record that is not whole, it returns zero values and failed is
// true.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) bytes(n int) []byte {
	if d.failed || n < 0 || n > len(d.rest) {
		d.failed = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) number() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) voters() (voters []uint64) {
	n := d.number()
	if n > uint64(len(d.rest))/8 {
		d.failed = true
		return nil
	}
	for range n {
		voters = append(voters, d.number())
	}
	return voters
}

func (d *decoder) position() position { return position{d.number(), d.number()} }

func (d *decoder) entry() *pb.Entry {
	p := d.position()
	kind := pb.EntryType(d.byte())
	var data []byte
	if b := d.bytes(4); b != nil {
		data = append(data, d.bytes(int(binary.BigEndian.Uint32(b)))...)
	}
	return &pb.Entry{Term: &p.term, Index: &p.index, Type: &kind, Data: data}
}

// A sink takes the records of a batch.
type sink interface {
	member(Member) error
	base(base) error
	state(state)
	entry(*pb.Entry) error
}

// records passes the records of a batch to the sink.
func records(body []byte, to sink) error {
	for d := (decoder{rest: body}); len(d.rest) > 0; {
		var err error
		switch kind := d.byte(); kind {
		case memberRecord:
			if m := (Member{d.number(), d.voters()}); !d.failed {
				err = to.member(m)
			}
		case baseRecord:
			if b := (base{d.position(), d.byte() != 0}); !d.failed {
				err = to.base(b)
			}
		case stateRecord:
			if s := (state{d.number(), d.number(), d.number()}); !d.failed {
				to.state(s)
			}
		case entryRecord:
			if e := d.entry(); !d.failed {
				err = to.entry(e)
			}
		default:
			err = fmt.Errorf("a record of the unknown kind %d: "+cure, kind)
		}
		if d.failed {
			err = errors.New("an incomplete record: " + cure)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Snapshot is a saved snapshot that is being read. It stays readable when newer ones replace it.
type Snapshot struct {
	file *os.File
	parts
}

// OpenSnapshot opens the last snapshot for reading. It returns nil without an error if there is none.
func (l *Log) OpenSnapshot() (*Snapshot, error) {
	l.installing.Lock() // so that the file is not removed meanwhile
	defer l.installing.Unlock()
	l.mu.RLock()
	at := l.snapshot
	l.mu.RUnlock()
	if at.index == 0 {
		return nil, nil
	}
	return openSnapshot(logfile.PathOf(l.dir.Path, logfile.Snapshot, int64(at.index)))
}

func openSnapshot(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := logfile.ReadFile(f, snapshotFormat())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	p, err := readParts(r, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Snapshot{f, p}, nil
}

// Metadata returns the index and the term of the last entry in the snapshot, and the voters.
func (s *Snapshot) Metadata() *pb.SnapshotMetadata { return metadata(s.at, s.voters) }

// Next returns the next section, which is valid until the next call, or io.EOF after the last.
func (s *Snapshot) Next() ([]byte, error) { return s.next() }

// WriteTo writes the whole snapshot in the form that Receive reads, which says where it ends. It must be
// the first call.
func (s *Snapshot) WriteTo(w io.Writer) (n int64, err error) {
	write := func(b []byte) error {
		m, err := w.Write(b)
		n += int64(m)
		return err
	}
	err = s.copy(write)
	return n, err
}

// Close closes the file.
func (s *Snapshot) Close() error { return s.file.Close() }

// parts reads the batches of a snapshot.
type parts struct {
	r      *logfile.Reader
	name   string // in errors
	at     position
	voters []uint64
	first  []byte // the first batch
	number int64  // of the next batch
	ended  bool
}

// readParts reads the first batch.
func readParts(r *logfile.Reader, name string) (parts, error) {
	p := parts{r: r, name: name, number: 1}
	body, err := r.Next(0)
	if err != nil {
		return p, p.damaged(err)
	}
	d := decoder{rest: body}
	p.at, p.voters = d.position(), d.voters()
	if d.failed || len(d.rest) > 0 || p.at.index == 0 {
		return p, p.damaged(logfile.ErrBroken)
	}
	p.first = bytes.Clone(r.Batch())
	return p, nil
}

func (p *parts) next() ([]byte, error) {
	if p.ended {
		return nil, io.EOF
	}
	body, err := p.r.Next(p.number)
	if err != nil {
		return nil, p.damaged(err)
	}
	p.number++
	if body[0] == contentBatch {
		return body[1:], nil
	}
	d := decoder{rest: body[1:]}
	if n := d.number(); body[0] != endBatch || d.failed || int64(n) != p.number-2 {
		return nil, p.damaged(logfile.ErrBroken)
	}
	p.ended = true
	return nil, io.EOF
}

func (p *parts) damaged(err error) error {
	if errors.Is(err, logfile.ErrBroken) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("damaged at byte %d: "+cure, p.r.Offset())
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// copy passes the bytes of the whole file to write.
func (p *parts) copy(write func([]byte) error) error {
	err := write(p.r.Bytes)
	if err == nil {
		err = write(p.first)
	}
	for err == nil {
		_, failed := p.next()
		if failed == nil || p.ended {
			err = write(p.r.Batch())
		} else {
			err = failed
		}
		if p.ended {
			return err
		}
	}
	return err
}
