package testenv

import (
	"flag"
	"fmt"
	"testing"
)

func TestServer(t *testing.T) {
	t.Setenv(ZooKeeper, "")
	if address, ok := Server(ZooKeeper); ok {
		t.Errorf("a server at %q, want none", address)
	}
	t.Setenv(ZooKeeper, "127.0.0.1:2181")
	if address, ok := Server(ZooKeeper); !ok || address != "127.0.0.1:2181" {
		t.Errorf("a server at %q, %t", address, ok)
	}
}

func TestSkipIfShort(t *testing.T) {
	short := flag.Lookup("test.short").Value
	before := short.String()
	defer short.Set(before)
	for value, want := range map[string]bool{"true": true, "false": false} {
		short.Set(value)
		f := &fakeTest{TB: t}
		SkipIfShort(f)
		if f.skipped != want {
			t.Errorf("-short=%s: skipped %t, want %t", value, f.skipped, want)
		}
	}
}

// A fakeTest records whether it was skipped, with the part that has the tests of this package.
type fakeTest struct {
	testing.TB
	skipped bool
}

func (f *fakeTest) Helper()         {}
func (f *fakeTest) Skip(why ...any) { f.skipped = fmt.Sprint(why...) == "left to make check-command" }

// A simulation runs only in builds without the race detector.
func TestSkipIfRaced(t *testing.T) {
	skipped := false
	t.Run("simulation", func(t *testing.T) {
		t.Cleanup(func() { skipped = t.Skipped() })
		SkipIfRaced(t)
	})
	if skipped != raced {
		t.Errorf("skipped %t under the race detector %t", skipped, raced)
	}
}
