package wal

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Any body of a batch is read without a crash, and what is read is written back unchanged.
func FuzzBody(f *testing.F) {
	for _, x := range history() {
		f.Add(codec.AppendTxn(nil, &x))
	}
	f.Add(codec.AppendSession(nil, &tree.Session{ID: 7}))
	f.Add(codec.AppendImage(nil, &tree.Image{Path: "/a", Data: []byte("d"), ACL: []wire.ACL{wire.OpenACL()}, Life: 5}))
	var scratch []byte
	replayed := tree.New()
	replayed.KeepDigest()
	for _, x := range history() {
		b := newBatch(nil, replayed.Zxid()+1)
		r, _ := replayed.Apply(x)
		b.add(&x, &r, replayed.Digest(), &scratch)
		f.Add(b.bytes[logfile.HeaderLength:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := replay{tree: tree.New()}
		r.body(body)
		round(t, body, (*codec.Decoder).Txn, codec.AppendTxn)
		round(t, body, (*codec.Decoder).Session, codec.AppendSession)
		round(t, body, (*codec.Decoder).Image, codec.AppendImage)
	})
}

// round reads one value, writes it, and checks that reading it again returns the same value.
func round[V any](t *testing.T, body []byte, read func(*codec.Decoder) V, write func([]byte, *V) []byte) {
	r := codec.NewDecoder(body)
	v := read(&r)
	if r.Err() != nil {
		return
	}
	once := write(nil, &v)
	again := codec.NewDecoder(once)
	w := read(&again)
	if twice := write(nil, &w); again.Err() != nil || len(again.Rest()) > 0 || !bytes.Equal(once, twice) {
		t.Errorf("%x was read as %+v, written as %x, and then read as %+v, %v", body, v, once, w, again.Err())
	}
}
