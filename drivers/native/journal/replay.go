package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A replay brings a tree to the state that the log ends with.
type replay struct {
	tree   *tree.Tree
	zxid   int64 // of the last transaction read
	length int64 // of all that was read, in bytes
	end    int64 // of the last log, in bytes
}

// all replays the logs. It returns the last one, open at its end.
func (r *replay) all(logs []file) (last *os.File, err error) {
	for i, l := range logs {
		if last != nil {
			last.Close() // it was only read
		}
		if i > 0 && l.zxid != r.zxid+1 {
			return nil, fmt.Errorf("%s: zxid %d should follow, which is missing", logs[i-1].path, r.zxid+1)
		}
		r.zxid = l.zxid - 1
		if last, err = r.open(l.path, i == len(logs)-1); err != nil {
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
	}
	if r.zxid < r.tree.Zxid() {
		err := fmt.Errorf("%s: zxid %d should follow, which the snapshot shows", logs[len(logs)-1].path, r.zxid+1)
		return nil, errors.Join(err, last.Close())
	}
	return last, nil
}

func (r *replay) open(path string, last bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := r.file(f, last); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (r *replay) file(f *os.File, last bool) error {
	b, err := readBatches(f, logKind)
	if err != nil {
		return err
	}
	err = r.batches(b)
	r.length += b.at
	r.end = b.at
	switch {
	case err == io.EOF:
		_, err = f.Seek(b.at, io.SeekStart)
	case err == errBroken && last:
		err = r.cutOff(f, b.at)
	case err == errBroken:
		err = damaged(b.at, r.zxid)
	}
	return err
}

// batches applies what is in the batches, up to an error or io.EOF.
func (r *replay) batches(b *batchReader) error {
	for {
		body, err := b.read(r.zxid + 1)
		if err == nil {
			err = r.body(body)
		}
		if err != nil {
			return err
		}
	}
}

// body applies the transactions that the tree does not show yet.
func (r *replay) body(body []byte) error {
	for b := (reader{wire.NewDecoder(body)}); len(b.Rest()) > 0; {
		x := b.txn()
		if b.Err() != nil {
			return fmt.Errorf("zxid %d is not a transaction of this version", r.zxid+1)
		}
		if r.zxid++; r.zxid > r.tree.Zxid() {
			r.tree.Apply(x)
		}
	}
	return nil
}

// cutOff takes away what was torn as it was written: it has no whole batch in it.
func (r *replay) cutOff(f *os.File, end int64) error {
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	torn, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if hasBatch(torn, r.zxid+1) {
		return damaged(end, r.zxid)
	}
	_, err = f.Seek(end, io.SeekStart)
	return errors.Join(err, f.Truncate(end), f.Sync())
}

func damaged(at, zxid int64) error {
	return fmt.Errorf("damaged at byte %d, behind zxid %d, with more behind it: restore the file from a copy", at, zxid)
}
