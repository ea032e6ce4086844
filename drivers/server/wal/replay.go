package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A replay applies the logs to a tree.
type replay struct {
	journal *Journal
	tree    *tree.Tree
	zxid    int64 // zxid of the last transaction read
	length  int64 // bytes read from all logs
	end     int64 // offset of the end of the newest log's last whole batch
	frame   frame // of the newest log
	copy    File  // copy of the newest log if it has the current version; not settled
}

// all replays the logs.
func (r *replay) all(logs []file) (err error) {
	defer func() {
		if err != nil && r.copy != nil {
			err = errors.Join(err, r.copy.Close(), r.journal.removeUnfinished())
		}
	}()
	for i, l := range logs {
		if i > 0 && l.zxid != r.zxid+1 {
			return fmt.Errorf("%s: zxid %d should follow, which is missing", logs[i-1].path, r.zxid+1)
		}
		r.zxid = l.zxid - 1
		if err := r.open(l.path, i == len(logs)-1); err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
	}
	if r.zxid < r.tree.Zxid() {
		return fmt.Errorf("%s: zxid %d should follow, which the snapshot shows", logs[len(logs)-1].path, r.zxid+1)
	}
	return nil
}

func (r *replay) open(path string, newest bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := readBatches(f, logKind)
	if err != nil {
		return err
	}
	if newest && b.version == version {
		return r.newest(path, f, b)
	}
	return r.file(f, b, newest, io.Discard)
}

// newest replays the newest log and copies the whole batches.
func (r *replay) newest(path string, f *os.File, b *batchReader) (err error) {
	if r.copy, err = r.journal.beginWith(path, b.bytes); err != nil {
		return err
	}
	to := bufio.NewWriterSize(r.copy, 1<<20)
	if err := r.file(f, b, true, to); err != nil {
		return err
	}
	r.end, r.frame = b.at, b.frame
	return to.Flush()
}

// file replays a log and copies its batches to to.
func (r *replay) file(f *os.File, b *batchReader, newest bool, to io.Writer) error {
	err := r.batches(b, to)
	r.length += b.at
	switch {
	case err == io.EOF:
		return nil
	case err == errBroken && newest:
		return r.tail(f, b)
	case err == errBroken:
		return damaged(b.at, r.zxid)
	}
	return err
}

// batches applies the batches up to an error or io.EOF.
func (r *replay) batches(b *batchReader, to io.Writer) error {
	for {
		body, err := b.read(r.zxid + 1)
		if err != nil {
			return err
		}
		if b.version == 1 {
			err = r.bodyOne(body)
		} else {
			err = r.body(body)
		}
		if err == nil {
			_, err = to.Write(b.buf)
		}
		if err != nil {
			return err
		}
	}
}

// body applies the transactions that the tree does not contain yet. It fails if a result or the
// tree's digest differs from the recorded one.
func (r *replay) body(body []byte) error {
	b := reader{wire.NewDecoder(body)}
	digest := uint64(b.Long())
	for len(b.Rest()) > 0 {
		x, ok := b.record()
		if !ok {
			return fmt.Errorf("zxid %d is not a transaction of this version", r.zxid+1)
		}
		if r.zxid++; r.zxid <= r.tree.Zxid() {
			continue
		}
		result, _ := r.tree.Apply(x.txn)
		if x.kind == applied && resultDigest(&result, &r.journal.scratch) != x.digest {
			return fmt.Errorf("zxid %d has another result than it had: %s", r.zxid, otherRules)
		}
	}
	if r.zxid == r.tree.Zxid() && r.tree.Digest() != digest {
		return fmt.Errorf("zxid %d leads to another state than it did: %s", r.zxid, otherRules)
	}
	return nil
}

const otherRules = "run the program that wrote the log, or restore the directory from a copy"

// bodyOne applies transactions of version 1, which recorded no results.
func (r *replay) bodyOne(body []byte) error {
	for b := (reader{wire.NewDecoder(body)}); len(b.Rest()) > 0; {
		x := b.txn()
		if b.Err() != nil {
			return fmt.Errorf("zxid %d is not a transaction of version 1", r.zxid+1)
		}
		if r.zxid++; r.zxid > r.tree.Zxid() {
			r.tree.Apply(x)
		}
	}
	return nil
}

// tail checks the data behind the last whole batch. It fails if that data contains a whole batch,
// because then it is not just an interrupted write.
func (r *replay) tail(f *os.File, b *batchReader) error {
	if _, err := f.Seek(b.at, io.SeekStart); err != nil {
		return err
	}
	torn, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if b.frame.anywhere(torn, r.zxid+1) {
		return damaged(b.at, r.zxid)
	}
	return nil
}

func damaged(at, zxid int64) error {
	return fmt.Errorf("damaged at byte %d, behind zxid %d, with more behind it: restore the file from a copy", at, zxid)
}
