package raftlog

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

// Whatever a log's batches contain, they are refused or recovered to a log that recovers again.
func FuzzRecovery(f *testing.F) {
	first := appendState(appendBase(appendMember(nil, one()), base{}), state{})
	f.Add(first, appendEntry(appendState(nil, state{1, 1, 0}), entry(1, 1, []byte("a"))), appendEntry(nil, entry(1, 2, nil)))
	f.Add(first, appendEntry(nil, entry(1, 1, nil)), appendBase(nil, base{position{7, 3}, true}))
	f.Add(first, []byte{77}, []byte{})
	f.Fuzz(func(t *testing.T, one, two, three []byte) {
		dir := t.TempDir()
		h := logfile.NewHeading(logFormat())
		log := h.Bytes
		for i, body := range [][]byte{one, two, three} {
			b := append(logfile.BeginBatch(nil, int64(i)+1), body...)
			h.Frame.End(b)
			log = append(log, b...)
		}
		write(t, dir, log)
		recovers(t, dir)
	})
}

// Whatever bytes a log has, they are refused or recovered to a log that recovers again.
func FuzzBytes(f *testing.F) {
	h := logfile.NewHeading(logFormat())
	b := append(logfile.BeginBatch(nil, 1), appendMember(nil, one())...)
	h.Frame.End(b)
	f.Add(h.Bytes)
	f.Add(append(bytes.Clone(h.Bytes), b...))
	f.Fuzz(func(t *testing.T, log []byte) {
		dir := t.TempDir()
		write(t, dir, log)
		recovers(t, dir)
	})
}

func recovers(t *testing.T, dir string) {
	l, err := OpenOn(disktest.Unsynced{}, dir, one())
	if err != nil {
		return
	}
	want := viewOf(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = OpenOn(disktest.Unsynced{}, dir, one())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := viewOf(t, l); got != want {
		t.Errorf("recovered %+v, and then %+v", want, got)
	}
}

// Whatever arrives as a snapshot is refused, or it can be installed and read.
func FuzzReceive(f *testing.F) {
	t := &testing.T{}
	f.Add(streamOf(t, position{5, 2}, []byte("contents")))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := open(t, disktest.Unsynced{}, t.TempDir(), standard())
		got, err := l.Receive(bytes.NewReader(b))
		if err != nil {
			return
		}
		if err := l.Install(got, hard(9, 0, got.Metadata().GetIndex())); err != nil {
			t.Fatal(err)
		}
		contentsOf(t, l)
	})
}
