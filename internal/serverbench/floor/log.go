package floor

import (
	"io"
	"sync"
)

// A File is where requests that change something are written.
type File interface {
	io.Writer
	Sync() error
}

// A Log writes bytes to a file. Bytes added during a sync are written together and synced once.
type Log struct {
	file    File
	writing sync.Mutex // held while a batch is written and synced

	mu     sync.Mutex // guards all below
	gather *batch     // the next one to write; nil if it has no bytes yet
	spare  []byte     // the buffer of the last batch
}

type batch struct {
	bytes []byte
	done  chan struct{} // closed after err is set
	err   error
}

// NewLog returns a log that writes to the file.
func NewLog(file File) *Log { return &Log{file: file} }

// Commit returns when the bytes have been written and synced. The first caller of a batch
// writes the batch.
func (l *Log) Commit(b []byte) error {
	l.mu.Lock()
	mine, first := l.gather, l.gather == nil
	if first {
		mine = &batch{bytes: l.spare, done: make(chan struct{})}
		l.gather, l.spare = mine, nil
	}
	mine.bytes = append(mine.bytes, b...)
	l.mu.Unlock()
	if !first {
		<-mine.done
		return mine.err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.gather = nil
	l.mu.Unlock()
	if _, mine.err = l.file.Write(mine.bytes); mine.err == nil {
		mine.err = l.file.Sync()
	}
	l.mu.Lock()
	l.spare = mine.bytes[:0]
	l.mu.Unlock()
	close(mine.done)
	return mine.err
}
