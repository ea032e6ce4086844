package wal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A snapshot's batches are sections. The first byte of each is its kind.
const (
	sessionSection byte = iota + 1
	nodeSection
	endSection // the last section, with the digest of the tree; empty in version 1
)

const (
	// sectionLength is the length in bytes at which a section is written.
	sectionLength = 1 << 20
	// syncLength is the number of bytes between two syncs. It is small because the log's syncs wait
	// behind them.
	syncLength = 4 << 20
)

// sections writes the sections of a snapshot.
type sections struct {
	file    File
	frame   frame
	batch   []byte // the current section with its header
	number  int64  // number of sections begun
	written int64  // bytes
	synced  int64  // bytes synced
}

func (w *sections) write(s *tree.Snapshot, next func([]tree.Image) ([]tree.Image, bool, error)) error {
	w.begin(sessionSection)
	for _, x := range s.Sessions() {
		w.batch = appendSession(w.batch, &x)
	}
	err := w.end()
	var images []tree.Image
	for more := true; err == nil && more; {
		if images, more, err = next(images[:0]); err == nil {
			err = w.nodes(images)
		}
	}
	if err == nil {
		w.begin(endSection)
		w.batch = wire.AppendLong(w.batch, int64(s.Digest()))
		err = w.end()
	}
	return err
}

func (w *sections) nodes(images []tree.Image) error {
	for len(images) > 0 {
		w.begin(nodeSection)
		for len(images) > 0 && len(w.batch) < sectionLength {
			w.batch = appendImage(w.batch, &images[0])
			images = images[1:]
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

func (w *sections) begin(kind byte) {
	w.batch = append(beginBatch(w.batch[:0], w.number), kind)
	w.number++
}

func (w *sections) end() error {
	w.frame.end(w.batch)
	n, err := w.file.Write(w.batch)
	if w.written += int64(n); err == nil && w.written-w.synced > syncLength {
		err = w.file.Sync()
		w.synced = w.written
	}
	return err
}

// readSnapshot returns the tree of a snapshot. The tree maintains its digest.
func readSnapshot(from file) (*tree.Tree, error) {
	f, err := os.Open(from.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := readBatches(f, snapshotKind)
	if err != nil {
		return nil, err
	}
	t, err := readSections(r, from.zxid)
	if errors.Is(err, errBroken) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("damaged at byte %d", r.at)
	}
	return t, err
}

func readSections(r *batchReader, zxid int64) (*tree.Tree, error) {
	sessions, err := readSessions(r)
	if err != nil {
		return nil, err
	}
	nodes := tree.Restore(zxid, sessions)
	for number := int64(1); ; number++ {
		body, err := r.read(number)
		if err != nil {
			return nil, err
		}
		if body[0] == endSection {
			return restored(r, nodes, body[1:])
		}
		if err := readNodes(body, nodes); err != nil {
			return nil, err
		}
	}
}

// restored returns the tree if its digest is the recorded one.
func restored(r *batchReader, nodes *tree.Restoration, digest []byte) (*tree.Tree, error) {
	t, err := nodes.Tree()
	if err != nil {
		return nil, err
	}
	t.KeepDigest()
	if r.version == 1 {
		return t, nil
	}
	b := wire.NewDecoder(digest)
	if want := b.Long(); b.Err() != nil || uint64(want) != t.Digest() {
		return nil, errors.New("it shows another state than was written")
	}
	return t, nil
}

func readSessions(r *batchReader) (sessions []tree.Session, err error) {
	body, err := r.read(0)
	if err != nil {
		return nil, err
	}
	b := reader{wire.NewDecoder(body)}
	if b.Byte() != sessionSection {
		return nil, errBroken
	}
	for len(b.Rest()) > 0 && b.Err() == nil {
		sessions = append(sessions, b.session())
	}
	return sessions, b.Err()
}

func readNodes(body []byte, to *tree.Restoration) error {
	b := reader{wire.NewDecoder(body)}
	if b.Byte() != nodeSection {
		return errBroken
	}
	for len(b.Rest()) > 0 {
		i := b.image()
		if b.Err() != nil {
			return b.Err()
		}
		if err := to.Add(&i); err != nil {
			return err
		}
	}
	return nil
}
