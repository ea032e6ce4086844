package raftlog

import (
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// Append returns when the state and the entries are on disk. Either may be empty. Entries replace
// those with the same or a higher index. Without mustSync and entries nothing is written: only the
// commit index has changed, and it is written with the next batch or by Close. After an error nothing
// more can be appended.
func (l *Log) Append(hard *pb.HardState, entries []*pb.Entry, mustSync bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	now, entries, err := l.check(hard, entries)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if mustSync {
			err = l.writeBatch(appendState(l.begin(), now), now)
		}
		if err == nil {
			l.appended(now, nil)
		}
		return err
	}
	for len(entries) > 0 && err == nil {
		n, size := 0, 0
		for n < len(entries) && size < l.limits.batch {
			size += entryOverhead + len(entries[n].GetData())
			n++
		}
		err = l.appendPart(now, entries[:n])
		entries = entries[n:]
	}
	return err
}

// check returns the state after the append and the entries that are not compacted yet.
func (l *Log) check(hard *pb.HardState, entries []*pb.Entry) (state, []*pb.Entry, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.err != nil {
		return state{}, nil, l.err
	}
	now := l.current
	if !raft.IsEmptyHardState(hard) {
		now = stateOf(hard)
	}
	for i, e := range entries {
		if want := entries[0].GetIndex() + uint64(i); e.GetIndex() != want {
			return now, nil, fmt.Errorf("raft log: entry %d instead of %d", e.GetIndex(), want)
		}
	}
	last := l.last()
	if len(entries) > 0 {
		if first := entries[0].GetIndex(); first > last+1 {
			return now, nil, fmt.Errorf("raft log: entry %d cannot follow %d", first, last)
		}
		last = entries[len(entries)-1].GetIndex()
	}
	for len(entries) > 0 && entries[0].GetIndex() <= l.before.index {
		entries = entries[1:]
	}
	if now.commit > max(last, l.before.index) || now.commit < l.snapshot.index {
		return now, nil, fmt.Errorf("raft log: entry %d cannot be the last committed one: the snapshot has index %d and the last entry %d",
			now.commit, l.snapshot.index, last)
	}
	return now, entries, l.checkCommitted(entries)
}

// checkCommitted refuses to replace a committed entry by another one.
func (l *Log) checkCommitted(entries []*pb.Entry) error {
	for _, e := range entries {
		if e.GetIndex() > min(l.current.commit, l.last()) {
			break
		}
		if term, err := l.term(e.GetIndex()); err != nil || term != e.GetTerm() {
			return fmt.Errorf("raft log: entry %d of term %d is committed and cannot be replaced by one of term %d",
				e.GetIndex(), term, e.GetTerm())
		}
	}
	return nil
}

// appendPart writes the entries as one batch, with the state.
func (l *Log) appendPart(now state, entries []*pb.Entry) error {
	now.commit = min(now.commit, entries[len(entries)-1].GetIndex())
	b := l.begin()
	if now != l.written {
		b = appendState(b, now)
	}
	for _, e := range entries {
		b = appendEntry(b, e)
	}
	if err := l.writeBatch(b, now); err != nil {
		return err
	}
	l.appended(now, entries)
	return nil
}

// appended makes what is on disk visible.
func (l *Log) appended(now state, entries []*pb.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = now
	if len(entries) == 0 {
		return
	}
	if keep := int(entries[0].GetIndex() - l.before.index - 1); keep < len(l.entries) {
		l.entries = l.entries[:keep:keep] // so that append copies them
	}
	l.entries = append(l.entries, entries...)
}

// begin returns a buffer with the header of the next batch.
func (l *Log) begin() []byte {
	b := logfile.BeginBatch(l.spare[:0], l.next)
	l.spare = nil // until the batch is written
	return b
}

// keptBuffer is the size in bytes of the largest buffer that is reused. A thousand writes of 1 KB that
// wait for one sync fit.
const keptBuffer = 4 << 20

// writeBatch writes and syncs one batch, with the state after it. An error ends the log.
func (l *Log) writeBatch(b []byte, now state) error {
	if l.dir.Length >= l.limits.log {
		if err := l.rotate(); err != nil {
			return l.fail(err)
		}
		logfile.SetPlace(b, l.next)
	}
	if err := l.syncBatch(b); err != nil {
		return l.fail(err)
	}
	l.written = now
	l.grew(int64(len(b)))
	return nil
}

func (l *Log) syncBatch(b []byte) error {
	err := l.dir.Append(b)
	if cap(b) <= keptBuffer {
		l.spare = b
	}
	l.next++
	return err
}

// rotate begins the next log.
func (l *Log) rotate() error {
	if err := l.dir.Log.Close(); err != nil {
		return err
	}
	l.mu.RLock()
	at := base{position: l.lastPosition()}
	l.mu.RUnlock()
	if err := l.dir.BeginLog(l.next, logFormat()); err != nil {
		return err
	}
	return l.beginBatches(at, l.written)
}

// beginBatches writes the first batch of the current log.
func (l *Log) beginBatches(at base, now state) error {
	name := logfile.Name{Path: logfile.PathOf(l.dir.Path, logfile.Log, l.next), Place: l.next}
	b := appendState(appendBase(appendMember(l.begin(), l.member), at), now)
	if err := l.syncBatch(b); err != nil {
		return err
	}
	l.written = now
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logs = append(l.logs, segment{name, at})
	return nil
}

// grew requests a snapshot when replaying the log would take longer than reading a snapshot.
func (l *Log) grew(length int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sinceSnapshot += length
	if l.due || l.sinceSnapshot < max(l.limits.snapshot, l.snapshotSize) {
		return
	}
	l.due, l.sinceSnapshot = true, 0
	select {
	case l.isDue <- struct{}{}:
	default: // the last one was not received yet
	}
}
