package server_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A tally counts the replies and notifications of the sides of several pairs.
type tally struct {
	seen   map[int32]map[wire.Err]int
	events int
	avoid  func(session int, r request) bool
}

func (s *tally) add(p *pair) {
	for op, seen := range p.sides[0].seen {
		if s.seen[op] == nil {
			s.seen[op] = map[wire.Err]int{}
		}
		for err, n := range seen {
			s.seen[op][err] += n
		}
	}
	s.events += p.sides[0].events
	s.avoid = p.script.avoid
}

// wantAll checks that the scripts made every request succeed and produced every error.
func (s *tally) wantAll(t *testing.T) {
	errs := map[wire.Err]bool{}
	for _, op := range []int32{wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, wire.OpDelete,
		wire.OpExists, wire.OpGetData, wire.OpSetData, wire.OpGetACL, wire.OpSetACL, wire.OpGetChildren, wire.OpGetChildren2,
		wire.OpSync, wire.OpMulti, wire.OpMultiRead, wire.OpSetWatches, wire.OpSetWatches2, wire.OpAddWatch,
		wire.OpCheckWatches, wire.OpRemoveWatches, wire.OpGetEphemerals, wire.OpAllChildrenNum, wire.OpWhoAmI, wire.OpAuth} {
		if s.seen[op][wire.OK] == 0 && !s.avoid(0, request{op, nil}) {
			t.Errorf("request %d never succeeded: the script asks too little", op)
		}
	}
	for _, seen := range s.seen {
		for err := range seen {
			errs[err] = true
		}
	}
	for _, err := range []wire.Err{wire.ErrMarshalling, wire.ErrUnimplemented, wire.ErrBadArguments, wire.ErrNoNode,
		wire.ErrNoAuth, wire.ErrBadVersion, wire.ErrNoChildrenForEphemerals, wire.ErrNodeExists, wire.ErrNotEmpty,
		wire.ErrInvalidACL, wire.ErrAuthFailed, wire.ErrNoWatcher, wire.ErrReconfigDisabled} {
		if !errs[err] {
			t.Errorf("error %d was never met: the script asks too little", err)
		}
	}
	if s.events == 0 {
		t.Error("no session got a notification")
	}
}

// A failing test records the reason for its failure.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// The comparison of a server with itself finds no difference. The comparison with a server without
// a superuser finds that difference.
func TestTheComparisonFails(t *testing.T) {
	whole := server.Options{SuperDigest: superDigest()}
	for _, c := range []struct {
		name, want string
		other      server.Options
	}{
		{"the same", "", whole},
		{"another", "-ZooKeeper +native", server.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &failing{TB: t}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				p := newPair(f, backendtest.Native(t, whole), backendtest.Native(t, c.other), 1)
				for p.done < 3000 {
					p.step()
				}
			}()
			<-ended
			if (f.why == "") != (c.want == "") || !strings.Contains(f.why, c.want) {
				t.Errorf("failed with %q, want %q", f.why, c.want)
			}
		})
	}
}
