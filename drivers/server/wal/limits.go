package wal

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
