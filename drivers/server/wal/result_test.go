package wal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A log is refused if applying it leads to another result or state than recorded, as with a program
// of other rules.
func TestOtherRulesAreRefused(t *testing.T) {
	for want, gather := range map[string]func(j *Journal, b *batch, x *tree.Txn, r *tree.Result){
		"zxid 2 has another result than it had": func(j *Journal, b *batch, x *tree.Txn, r *tree.Result) {
			r.Path = "/elsewhere"
			b.add(x, r, j.tree.Digest(), &j.scratch)
		},
		"zxid 2 leads to another state than it did": func(j *Journal, b *batch, x *tree.Txn, r *tree.Result) {
			b.add(x, r, j.tree.Digest()+1, &j.scratch)
		},
	} {
		dir := t.TempDir()
		j := open(t, dir)
		do(t, j, tree.Txn{Op: create("/a", 0)})
		x := tree.Txn{Op: create("/b", 0)}
		r, _ := j.Tree().Apply(x)
		j.mu.Lock()
		gather(j, j.gathering(r.Zxid), &x, &r)
		j.mu.Unlock()
		if err := j.Await(r.Zxid); err != nil {
			t.Fatal(err)
		}
		j.Close()
		_, err := OpenOn(disktest.Unsynced{}, dir)
		if err == nil || !strings.HasPrefix(err.Error(), logfile.PathOf(dir, logfile.Log, 1)+": "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A snapshot is refused if its nodes are not those of the tree.
func TestOtherStateIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	do(t, j, tree.Txn{Op: create("/a", 0)})
	s := j.Tree().Snapshot()
	j.SaveSnapshot(s, func(images []tree.Image) ([]tree.Image, bool, error) {
		images, more := s.Next(images, 10)
		for i := range images {
			images[i].Version++
		}
		return images, more, nil
	})
	j.Close()
	_, err := OpenOn(disktest.Unsynced{}, dir)
	if err == nil || !strings.Contains(err.Error(), "it shows another state than was written") {
		t.Errorf("%v, want the snapshot refused", err)
	}
}

// A refused transaction takes a zxid and few bytes, however long it is.
func TestRefusedTakesFewBytes(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	do(t, j, tree.Txn{Op: create("/mine", 0, wire.ACL{Perms: wire.PermRead, Scheme: "world", ID: "anyone"})})
	do(t, j, tree.Txn{Op: create("/a", 0)})
	_, before, err := j.Dir().Size()
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 1_000_000)
	set := tree.Op{Kind: tree.SetData, Path: "/mine", Data: large, Version: tree.AnyVersion}
	old := tree.Op{Kind: tree.SetData, Path: "/a", Data: large, Version: 7}
	fine := tree.Op{Kind: tree.SetData, Path: "/a", Data: large, Version: tree.AnyVersion}
	refused := []tree.Txn{{Op: set}, {Op: old}, {Op: tree.Op{Kind: tree.Multi}, Ops: []tree.Op{fine, set}}}
	for range 5 {
		for _, x := range refused {
			do(t, j, x)
		}
	}
	_, after, err := j.Dir().Size()
	const each = logfile.HeaderLength + digestLength + 1 + 4
	if want := int64(5 * len(refused) * each); err != nil || after-before != want {
		t.Errorf("refused transactions took %d bytes, %v, want %d", after-before, err, want)
	}
	want := j.Tree().Digest()
	j.Close()
	if j = open(t, dir); j.Tree().Zxid() != 2+15 || j.Tree().Digest() != want {
		t.Errorf("recovered zxid %d and digest %x, want 17 and %x", j.Tree().Zxid(), j.Tree().Digest(), want)
	}
}

// A transaction whose record is too long is refused before it is applied.
func TestRecordThatDoesNotFit(t *testing.T) {
	dir := t.TempDir()
	l := standard
	x := tree.Txn{Op: create("/a", 0)}
	l.record = recordLength(&x)
	j := openLimited(t, dir, l)
	longer := tree.Txn{Op: create("/ab", 0)}
	if r, _ := j.Apply(longer); r.Err != wire.ErrMarshalling || r.Zxid != 1 || j.Tree().Find("/ab") != nil {
		t.Errorf("%+v, want it refused with zxid 1", r)
	}
	do(t, j, x)
	want := pictureOf(j.Tree())
	j.Close()
	if got := pictureOf(open(t, dir).Tree()); got.Zxid != 2 || len(got.Nodes) != len(want.Nodes) {
		t.Errorf("recovered %+v, want %+v", got, want)
	}
}

// The length of the longest batch, with the longest record at its end, fits its header.
func TestLengthsFitTheirFields(t *testing.T) {
	if most := uint64(standard.batch) + uint64(standard.record); most > 1<<32-1 {
		t.Errorf("a batch may have %d bytes", most)
	}
}

// The length of a record is known before it is encoded.
func TestRecordLength(t *testing.T) {
	replayed := tree.New()
	var scratch []byte
	for i, x := range history() {
		r, _ := replayed.Apply(x)
		want := recordLength(&x)
		if refusal(&r) != wire.OK {
			want = 1 + 4
		}
		if got := len(appendRecord(nil, &x, &r, &scratch)); got != want {
			t.Errorf("transaction %d: %d bytes, want %d", i, got, want)
		}
	}
}

// Client data in a torn tail is not taken for a batch. Only a batch with the file's own mark is.
func TestDataCannotForgeABatch(t *testing.T) {
	mark := logfile.NewHeading(formatOf(logfile.Log)).Frame
	for _, known := range []bool{false, true} {
		dir := t.TempDir()
		j := open(t, dir)
		do(t, j, tree.Txn{Op: create("/a", 0)})
		if known {
			mark = j.dir.Frame
		}
		var forged []byte
		for place := range int64(5) {
			b := append(logfile.BeginBatch(nil, place), "body"...)
			mark.End(b)
			forged = append(forged, b...)
		}
		do(t, j, tree.Txn{Op: tree.Op{Kind: tree.SetData, Path: "/a", Data: forged, Version: tree.AnyVersion}})
		j.Close()
		shorten(t, logfile.PathOf(dir, logfile.Log, 1))
		j, err := OpenOn(disktest.Unsynced{}, dir)
		switch {
		case known && (err == nil || !strings.Contains(err.Error(), "damaged at byte")):
			t.Errorf("%v, want a batch with the mark to be taken for one", err)
		case !known && err != nil:
			t.Error(err)
		case !known && j.Tree().Zxid() != 1:
			t.Errorf("zxid %d, want 1", j.Tree().Zxid())
		}
		if err == nil {
			j.Close()
		}
	}
}

// Two files have different marks.
func TestMarksDiffer(t *testing.T) {
	if one, two := logfile.NewHeading(formatOf(logfile.Log)), logfile.NewHeading(formatOf(logfile.Log)); one.Frame == two.Frame {
		t.Errorf("two files have the mark %x", one.Frame)
	}
}

// Data is divided into batches for the disk.
func TestLongQueueIsDivided(t *testing.T) {
	dir := t.TempDir()
	l := standard
	l.batch = 1000
	j := openLimited(t, dir, l)
	j.mu.Lock() // blocks the writer
	longest := 0
	for i := range 100 {
		x := tree.Txn{Op: create(fmt.Sprint("/", i), 0)}
		r, _ := j.tree.Apply(x)
		j.gathering(r.Zxid).add(&x, &r, j.tree.Digest(), &j.scratch)
		longest = max(longest, recordLength(&x))
	}
	n := len(j.queue)
	for i := range j.queue {
		if length := len(j.queue[i].bytes); length > l.batch+longest {
			t.Errorf("batch %d has %d bytes", i, length)
		}
	}
	j.mu.Unlock()
	if n < 10 {
		t.Errorf("%d batches, want at least 10", n)
	}
	j.Close()
	if got := open(t, dir).Tree().Zxid(); got != 100 {
		t.Errorf("zxid %d, want 100", got)
	}
}
