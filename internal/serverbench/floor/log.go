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
	gather *batch
	spare  []byte // the buffer of the last batch
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
	mine, first := l.add(b)
	if !first {
		<-mine.done
		return mine.err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.gather = nil
	l.mu.Unlock()
	mine.err = l.write(mine.bytes)
	l.mu.Lock()
	l.spare = mine.bytes[:0]
	l.mu.Unlock()
	close(mine.done)
	return mine.err
}

func (l *Log) add(b []byte) (mine *batch, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gather == nil {
		l.gather, first = &batch{bytes: l.spare, done: make(chan struct{})}, true
		l.spare = nil
	}
	l.gather.bytes = append(l.gather.bytes, b...)
	return l.gather, first
}

func (l *Log) write(b []byte) error {
	if _, err := l.file.Write(b); err != nil {
		return err
	}
	return l.file.Sync()
}
