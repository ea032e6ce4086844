package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// The digest that transactions maintain equals the one computed by a walk over the tree.
func TestDigestIsThatOfTheTree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	l := newLog(t)
	l.KeepDigest()
	seen := map[uint64]bool{}
	for range 5000 {
		before, last := l.Size(), l.Digest()
		result := l.apply(randomTxn(r, l.Zxid()))
		kept := l.Digest()
		if l.KeepDigest(); l.Digest() != kept {
			t.Fatalf("zxid %d: kept digest %x, the tree's is %x", result.Zxid, kept, l.Digest())
		}
		if kept == last && l.Size() != before {
			t.Fatalf("zxid %d: the digest stays, and the size changes from %+v to %+v", result.Zxid, before, l.Size())
		}
		seen[kept] = true
	}
	if len(seen) < 300 {
		t.Errorf("%d digests: the test changed too little", len(seen))
	}
}

// Trees that differ in one field of one node have different digests.
func TestDigestCoversEveryField(t *testing.T) {
	base := Image{Path: "/a", Data: []byte{}, Czxid: 1, Mzxid: 1, Pzxid: 1}
	seen := map[uint64]string{}
	note := func(what string, session Session, change func(i *Image)) {
		t.Helper()
		i := base
		change(&i)
		tree, err := restored(9, []Session{{ID: 3}, session}, []Image{{Path: "/"}, i})
		if err != nil {
			t.Fatal(err)
		}
		tree.KeepDigest()
		if other, again := seen[tree.Digest()]; again {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[tree.Digest()] = what
	}
	four := Session{ID: 4}
	for what, change := range map[string]func(i *Image){
		"base": func(*Image) {}, "path": func(i *Image) { i.Path = "/b" },
		"data": func(i *Image) { i.Data = []byte{1} }, "null": func(i *Image) { i.Data = nil },
		"acl":    func(i *Image) { i.ACL = []wire.ACL{entry(wire.PermRead, "world", "anyone")} },
		"perms":  func(i *Image) { i.ACL = []wire.ACL{entry(wire.PermWrite, "world", "anyone")} },
		"scheme": func(i *Image) { i.ACL = []wire.ACL{entry(wire.PermRead, "digest", "anyone")} },
		"id":     func(i *Image) { i.ACL = []wire.ACL{entry(wire.PermRead, "world", "any")} },
		"czxid":  func(i *Image) { i.Czxid = 2 }, "mzxid": func(i *Image) { i.Mzxid = 2 }, "pzxid": func(i *Image) { i.Pzxid = 2 },
		"ctime": func(i *Image) { i.Ctime = 2 }, "mtime": func(i *Image) { i.Mtime = 2 },
		"version": func(i *Image) { i.Version = 2 }, "aversion": func(i *Image) { i.Aversion = 2 },
		"creates": func(i *Image) { i.Creates = 2 }, "owner": func(i *Image) { i.Owner = 3 }, "life": func(i *Image) { i.Life = 2 },
	} {
		note(what, four, change)
	}
	for i, s := range []Session{{ID: 5}, {ID: 4, Opening: Opening{Timeout: 1}}, {ID: 4, Opening: Opening{Password: [16]byte{1}}}} {
		note(fmt.Sprint("session ", i), s, func(*Image) {})
	}
}

// If this digest changes, the rules have changed and need the next number.
func TestRulesAreThoseOfTheirNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	l := newLog(t)
	l.KeepDigest()
	for range 5000 {
		l.apply(randomTxn(r, l.Zxid()))
	}
	if got, want := [2]uint64{Rules, l.Digest()}, [2]uint64{1, 0xc446354bcbb12fdb}; got != want {
		t.Errorf("rules and digest %#x, want %#x: "+
			"if transactions should come to another state now, give Rules the next number and the test its digest", got, want)
	}
}
