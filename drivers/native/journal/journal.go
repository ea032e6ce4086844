package journal

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Journal is what is on disk of one tree, open for one server.
type Journal struct {
	dir    string
	disk   Disk
	lock   *os.File // locked
	limits limits
	tree   *tree.Tree
	isDue  chan struct{} // has a value when a snapshot is due
	done   chan struct{} // closed when nothing is written any more

	// Of whoever writes:
	file  File  // the log that is written
	frame frame // of its batches
	size  int64 // of it, in bytes

	durable atomic.Int64 // zxid of the last transaction on disk

	mu            sync.Mutex    // guards all below
	gathers       *sync.Cond    // a batch is to be written, or none is any more
	written       chan struct{} // closed when durable or err has changed, and another one put in its place
	queue         []batch       // to be written, the last of which gathers
	spare         []byte        // the buffer that was written last
	scratch       []byte        // to compute digests in
	pending       load          // in the queue, and being written
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

// Apply carries out the transaction on the tree and gathers it for the disk,
// with its result. It does not wait for the disk. One whose record is too long is
// refused with wire.ErrMarshalling.
func (j *Journal) Apply(x tree.Txn) (tree.Result, []tree.Event) {
	if recordLength(&x) > j.limits.record {
		x = tree.Txn{Op: tree.Op{Kind: tree.Refuse, Err: wire.ErrMarshalling}}
	}
	r, events := j.tree.Apply(x)
	j.gather(&x, &r)
	return r, events
}

func (j *Journal) gather(x *tree.Txn, r *tree.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || j.closed {
		return
	}
	b := j.gathering(r.Zxid)
	before := len(b.bytes)
	b.add(x, r, j.tree.Digest(), &j.scratch)
	added := load{len(b.bytes) - before, 1}
	b.load.add(added)
	j.pending.add(added)
}

// gathering returns the batch for the transaction with the zxid. It must be
// called with the lock held.
func (j *Journal) gathering(zxid int64) *batch {
	n := len(j.queue)
	if n > 0 && len(j.queue[n-1].bytes) < j.limits.batch {
		return &j.queue[n-1]
	}
	if n == 0 {
		j.gathers.Signal()
	}
	j.queue = append(j.queue, newBatch(j.spare, zxid))
	j.spare = nil
	return &j.queue[n]
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
