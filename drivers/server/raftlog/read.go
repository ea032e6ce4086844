package raftlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

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
		err = fmt.Errorf("damaged at byte %d: restore the file from a copy", p.r.At())
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
