package wal

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Journal is the durable state of one tree, opened by one server.
type Journal struct {
	dir    *logfile.Directory // only the writer writes its log
	limits limits
	tree   *tree.Tree
	isDue  chan struct{} // receives a value when a snapshot is due
	done   chan struct{} // closed when the writer has ended

	durable atomic.Int64 // zxid of the last transaction on disk

	mu            sync.Mutex    // guards all below
	gathers       *sync.Cond    // signals a batch to write, or the end
	written       chan struct{} // closed and replaced when durable or err changes
	queue         []batch       // batches to write; the last one is still filling
	spare         []byte        // the last written buffer, for reuse
	scratch       []byte        // buffer for digests
	pending       load          // queued or being written
	sinceSnapshot int64         // bytes of log since the last snapshot became due
	snapshotSize  int64         // length of the last snapshot in bytes
	due           bool          // a snapshot is due and not saved yet
	err           error         // the reason why writing has ended
	closed        bool
}

// ErrClosed is the error of Await for a transaction that was not written before the journal was
// closed.
var ErrClosed = errors.New("the journal is closed")

// Dir returns the data directory.
func (j *Journal) Dir() *logfile.Directory { return j.dir }

// Tree returns the recovered tree.
func (j *Journal) Tree() *tree.Tree { return j.tree }

// Apply executes the transaction on the tree and queues its record, with the result, for the disk.
// It does not wait for the disk. A transaction whose record is too long is refused with
// wire.ErrMarshalling.
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

// gathering returns the batch for the transaction with the zxid. The caller must hold the lock.
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

// Await returns nil when all transactions up to the zxid are on disk, or the reason why they will
// never be.
func (j *Journal) Await(zxid int64) error {
	for j.durable.Load() < zxid {
		j.mu.Lock()
		written, err := j.written, j.err
		j.mu.Unlock()
		switch {
		case j.durable.Load() >= zxid: // it is durable by now
		case err != nil:
			return err
		default:
			<-written // wakes all waiting callers at the same time, without a lock
		}
	}
	return nil
}

// Due returns a channel that receives a value when a snapshot should be saved.
func (j *Journal) Due() <-chan struct{} { return j.isDue }

// Done returns a channel that is closed when the journal has stopped writing. Err returns the
// reason, which is ErrClosed after Close.
func (j *Journal) Done() <-chan struct{} { return j.done }

// Err returns the reason why the journal cannot write any more, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close writes the queued transactions if the disk still works (see Err), and unlocks the
// directory. No SaveSnapshot may be in progress.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closed = true
	j.gathers.Signal()
	j.mu.Unlock()
	<-j.done
	return errors.Join(j.dir.Log.Close(), j.dir.Close())
}

// fail stops the writer. The caller must hold the lock.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = err
	}
	j.gathers.Signal()
	j.tell()
}

// tell wakes the callers that wait in Await and Room. The caller must hold the lock.
func (j *Journal) tell() {
	close(j.written)
	j.written = make(chan struct{})
}

// limits are lengths in bytes, and one number of transactions.
type limits struct {
	log       int64 // length at which a new log begins
	snapshot  int64 // minimum length of log between two snapshots
	batch     int   // length at which a new batch begins
	record    int   // maximum length of one transaction's record
	pending   int   // bytes applied and not on disk at which clients must wait
	pendingOf int   // transactions applied and not on disk at which clients must wait
}

// standard are the limits of a journal from [Open]. The length of a full batch plus the longest
// record fits a batch's header.
var standard = limits{
	log:       64 << 20,
	snapshot:  64 << 20,
	batch:     4 << 20,
	record:    1 << 30,
	pending:   32 << 20,
	pendingOf: 10_000,
}

// A load is an amount of data that is applied and not yet on disk.
type load struct {
	bytes int
	txns  int
}

func (l *load) add(other load) {
	l.bytes += other.bytes
	l.txns += other.txns
}

func (l *load) remove(other load) {
	l.bytes -= other.bytes
	l.txns -= other.txns
}

// Room returns nil if a client whose last transaction has the zxid may apply another one. Otherwise
// it returns a channel that is closed when the caller should check again. A client with a
// transaction that is not yet on disk may use only half of the limits. So a client that writes
// faster than the disk has to wait, while other clients can still apply one transaction at a time.
func (j *Journal) Room(last int64) <-chan struct{} {
	share := 1
	if last > j.durable.Load() {
		share = 2
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || j.pending.bytes < j.limits.pending/share && j.pending.txns < j.limits.pendingOf/share {
		return nil
	}
	return j.written
}

// Pending returns the amount of data that is applied and not yet on disk.
func (j *Journal) Pending() (bytes, transactions int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pending.bytes, j.pending.txns
}

// version is the version of the files.
const version = 2

// formatOf returns the format of the files of a kind.
func formatOf(kind string) logfile.Format {
	return logfile.Format{Kind: kind, Version: version, Rules: tree.Rules, Place: "zxid", SnapshotPlace: "zxid",
		Cure: "restore the file from a copy"}
}

// Open creates the directory if it is missing and recovers the tree from its files. It fails if
// another server uses the directory, or if a file is missing or damaged, except for the end of the
// newest log. When it returns, everything that it recovered is on disk.
func Open(dir string) (*Journal, error) { return OpenOn(logfile.System{}, dir) }

// OpenOn is Open with a disk for writing.
func OpenOn(d logfile.Disk, dir string) (*Journal, error) { return openWith(d, dir, standard) }

func openWith(d logfile.Disk, dir string, l limits) (*Journal, error) {
	locked, err := logfile.OpenDirectory(d, dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: locked, limits: l}
	if err := j.recover(); err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	j.start()
	return j, nil
}
