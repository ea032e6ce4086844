package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

func (j *Journal) start() {
	j.gathers, j.written = sync.NewCond(&j.mu), make(chan struct{})
	j.isDue, j.done = make(chan struct{}, 1), make(chan struct{})
	j.appended = j.tree.Zxid()
	j.durable.Store(j.appended)
	j.grew(0)
	go j.write()
}

// write writes batches until the end or an error.
func (j *Journal) write() {
	defer close(j.done)
	for {
		batch, last := j.take()
		if batch == nil {
			return
		}
		endBatch(batch)
		j.wrote(batch, last, j.writeBatch(batch))
	}
}

// take waits for a batch, and returns it with the zxid of its last transaction,
// or nil when there will be none any more.
func (j *Journal) take() (batch []byte, last int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.pending) == 0 && !j.closed && j.err == nil {
		j.gathers.Wait()
	}
	if j.err != nil || len(j.pending) == 0 {
		j.fail(ErrClosed)
		return nil, 0
	}
	batch, j.pending = j.pending, j.spare
	return batch, j.appended
}

func (j *Journal) writeBatch(batch []byte) error {
	if j.size >= j.logLength {
		if err := j.file.Close(); err != nil {
			return err
		}
		if err := j.beginLog(placeOf(batch)); err != nil {
			return err
		}
	}
	n, err := j.file.Write(batch)
	j.size += int64(n)
	return errors.Join(err, j.file.Sync())
}

// beginLog begins the log in which the transaction with the zxid is the first.
func (j *Journal) beginLog(zxid int64) error {
	path := pathOf(j.dir, logKind, zxid)
	f, err := begin(path, logKind)
	if err == nil {
		err = finish(f)
	}
	if err != nil {
		return err
	}
	j.size = int64(len(heading(logKind)))
	j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// wrote tells those who wait what came of a batch, and has its buffer used again.
func (j *Journal) wrote(batch []byte, last int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.fail(fmt.Errorf("journal: %w", err))
		return
	}
	j.durable.Store(last)
	j.spare = nil
	if cap(batch) <= keptBuffer {
		j.spare = batch[:0]
	}
	j.tell()
	j.grew(int64(len(batch)))
}

// grew asks for a snapshot when it is worth it: when the log takes longer to
// read than one.
func (j *Journal) grew(length int64) {
	j.sinceSnapshot += length
	if j.due || j.sinceSnapshot < max(j.snapshotAfter, j.snapshotSize) {
		return
	}
	j.due, j.sinceSnapshot = true, 0
	j.isDue <- struct{}{}
}

// keptBuffer is the size in bytes of the largest buffer that is used again.
const keptBuffer = 1 << 20
