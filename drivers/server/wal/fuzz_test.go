package wal

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Any body of a batch is read without a crash, and what is read is written back unchanged.
func FuzzBody(f *testing.F) {
	for _, x := range history() {
		f.Add(appendTxn(nil, &x))
	}
	f.Add(appendSession(nil, &tree.Session{ID: 7}))
	f.Add(appendImage(nil, &tree.Image{Path: "/a", Data: []byte("d"), ACL: tree.Everyone(), Life: 5}))
	var scratch []byte
	replayed := tree.New()
	replayed.KeepDigest()
	for _, x := range history() {
		b := newBatch(nil, replayed.Zxid()+1)
		r, _ := replayed.Apply(x)
		b.add(&x, &r, replayed.Digest(), &scratch)
		f.Add(b.bytes[batchHeader:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := replay{journal: &Journal{}, tree: tree.New()}
		r.body(body)
		round(t, body, (*reader).txn, appendTxn)
		round(t, body, (*reader).session, appendSession)
		round(t, body, (*reader).image, appendImage)
	})
}

// round reads one value, writes it, and checks that reading it again returns the same value.
func round[V any](t *testing.T, body []byte, read func(*reader) V, write func([]byte, *V) []byte) {
	r := reader{wire.NewDecoder(body)}
	v := read(&r)
	if r.Err() != nil {
		return
	}
	once := write(nil, &v)
	again := reader{wire.NewDecoder(once)}
	w := read(&again)
	if twice := write(nil, &w); again.Err() != nil || len(again.Rest()) > 0 || !bytes.Equal(once, twice) {
		t.Errorf("%x was read as %+v, written as %x, and then read as %+v, %v", body, v, once, w, again.Err())
	}
}
