package journal

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/native/tree"
)

// A Journal is what is on disk of one tree, open for one server.
type Journal struct {
	dir           string
	lock          *os.File // locked
	logLength     int64    // in bytes, at which another log is begun
	snapshotAfter int64    // as long a log at least, until another snapshot is due
	tree          *tree.Tree
	isDue         chan struct{} // has a value when a snapshot is due
	done          chan struct{} // closed when nothing is written any more

	// Of whoever writes:
	file *os.File // the log that is written
	size int64    // of it, in bytes

	durable atomic.Int64 // zxid of the last transaction on disk

	mu            sync.Mutex    // guards all below
	gathers       *sync.Cond    // what is to be written, or that nothing is any more
	written       chan struct{} // closed when durable or err has changed, and another one put in its place
	pending       []byte        // the batch that gathers, with room for its header
	spare         []byte        // the buffer that was written last
	appended      int64         // zxid of the last transaction appended
	sinceSnapshot int64         // bytes of log
	snapshotSize  int64         // of the last one, in bytes
	due           bool          // a snapshot was asked for, and not saved yet
	err           error         // why nothing can be written any more
	closed        bool
}

// ErrClosed is what whoever awaits a transaction of a closed journal is told, if
// it was not written before.
var ErrClosed = errors.New("the journal is closed")

// Dir is where it is.
func (j *Journal) Dir() string { return j.dir }

// Size is how much of the disk the snapshots and the logs take, in bytes.
func (j *Journal) Size() (snapshots, logs int64, err error) {
	snapshots, err = sizeOf(j.dir, snapshotKind)
	if err == nil {
		logs, err = sizeOf(j.dir, logKind)
	}
	return snapshots, logs, err
}

// Tree is the state that was recovered.
func (j *Journal) Tree() *tree.Tree { return j.tree }

// Append adds the transaction that is applied next. It does not wait for the
// disk, and does not keep x.
func (j *Journal) Append(x *tree.Txn) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appended++
	if j.err != nil || j.closed {
		return
	}
	if len(j.pending) == 0 {
		j.pending = beginBatch(j.pending, j.appended)
		j.gathers.Signal()
	}
	j.pending = appendTxn(j.pending, x)
}

// Await returns nil when all transactions up to the zxid are on disk, and why
// they never will be otherwise.
func (j *Journal) Await(zxid int64) error {
	for j.durable.Load() < zxid {
		j.mu.Lock()
		written, err := j.written, j.err
		j.mu.Unlock()
		switch {
		case j.durable.Load() >= zxid: // by now
		case err != nil:
			return err
		default:
			<-written // all who wait go on at once: none waits for a lock
		}
	}
	return nil
}

// Due has a value when a snapshot should be saved.
func (j *Journal) Due() <-chan struct{} { return j.isDue }

// Done is closed when nothing is written any more, because the journal was
// closed (then Err is ErrClosed) or for another reason that Err tells.
func (j *Journal) Done() <-chan struct{} { return j.done }

// Err is why nothing can be written any more, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes what was appended, if that can be (Err tells), and lets another
// server have the directory. No snapshot may be being saved.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closed = true
	j.gathers.Signal()
	j.mu.Unlock()
	<-j.done
	return errors.Join(j.file.Close(), j.lock.Close())
}

// fail has nothing written any more. It must be called with the lock held.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = err
	}
	j.gathers.Signal()
	j.tell()
}

// tell has those who await something look again. It must be called with the lock
// held.
func (j *Journal) tell() {
	close(j.written)
	j.written = make(chan struct{})
}
