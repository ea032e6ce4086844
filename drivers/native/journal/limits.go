package journal

// limits are lengths in bytes, and one number of transactions.
type limits struct {
	log       int64 // at which another log is begun
	snapshot  int64 // of the log, at least, until another snapshot is due
	batch     int   // at which another batch is begun
	record    int   // of one transaction at most
	pending   int   // of what is applied and not on disk, at which no client may write
	pendingOf int   // as many transactions likewise
}

// standard are the limits that [Open] gives a journal. A batch and the longest
// record together fit the length in a batch's header.
var standard = limits{
	log:       64 << 20,
	snapshot:  64 << 20,
	batch:     4 << 20,
	record:    1 << 30,
	pending:   32 << 20,
	pendingOf: 10_000,
}

// A load is how much is applied and not on disk yet.
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

// Room returns nil if a client whose last transaction has the zxid may have
// another one applied. Otherwise it returns a channel that is closed when it is
// worth asking again. A client with a transaction that is not on disk yet has to
// leave half of the room to the others: so one that writes faster than the disk
// waits, and the others go on with one transaction at a time.
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

// Pending returns how much is applied and not on disk yet.
func (j *Journal) Pending() (bytes, transactions int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pending.bytes, j.pending.txns
}
