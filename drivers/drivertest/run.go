package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// Run checks that a backend keeps the contract. It opens one service, which all
// cases share, and closes it at the end.
func Run(t *testing.T, open func(t *testing.T) drivers.Service) {
	shared(t, open, portable())
}

// RunOrdered checks that a backend delivers events and replies in ZooKeeper's
// order. It opens one service, which all cases share, and closes it at the end. It skips the
// cases named unsupported, which the client under test declares.
func RunOrdered(t *testing.T, open func(t *testing.T) drivers.Service, unsupported ...string) {
	shared(t, open, skipUnsupported(t, ordered(), unsupported))
}

// RunBubbled is like [Run], with a bubble of its own for every case. It calls open once
// for each case, within its bubble.
func RunBubbled(t *testing.T, open func(t *testing.T) drivers.Service) {
	bubbled(t, open, portable())
}

// RunOrderedBubbled is like [RunOrdered], with a bubble of its own for every case.
func RunOrderedBubbled(t *testing.T, open func(t *testing.T) drivers.Service, unsupported ...string) {
	bubbled(t, open, skipUnsupported(t, ordered(), unsupported))
}

// EventsBeforeReconnected is the case that a client does not support if it sends calls before it
// has armed all watches again.
const EventsBeforeReconnected = "events before replies after a reconnect"

// skipUnsupported replaces the cases of these names with a skip. A name of no case fails the test.
func skipUnsupported(t testing.TB, subjects []subject, unsupported []string) []subject {
	left := slices.Clone(unsupported)
	for _, s := range subjects {
		for i, c := range s.cases {
			if !slices.Contains(unsupported, c.name) {
				continue
			}
			left = slices.DeleteFunc(left, func(name string) bool { return name == c.name })
			s.cases[i].run = func(_ context.Context, x *trial) { x.Skip("declared unsupported by the client") }
		}
	}
	if len(left) > 0 {
		t.Fatalf("unsupported cases %q: no such cases", left)
	}
	return subjects
}

// RunPersistent checks that a backend whose Conns are [drivers.PersistentWatcher] keeps
// the contract of these. It opens one service, which all cases share, and closes it at
// the end.
func RunPersistent(t *testing.T, open func(t *testing.T) drivers.Service) {
	shared(t, open, lasting())
}

// RunPersistentBubbled is like [RunPersistent], with a bubble of its own for every case.
func RunPersistentBubbled(t *testing.T, open func(t *testing.T) drivers.Service) {
	bubbled(t, open, lasting())
}

// A subject is a part of the contract.
type subject struct {
	name  string
	cases []testCase
}

// A testCase is one promise of the contract.
type testCase struct {
	name string
	why  string // the promise, and what recipes need it for
	run  func(ctx context.Context, x *trial)
}

func portable() []subject {
	return []subject{
		{"nodes", nodes()},
		{"versions", versions()},
		{"transactions", transactions()},
		{"sequence", sequence()},
		{"ephemerals", ephemerals()},
		{"watches", watches()},
		{"races", races()},
		{"session loss", sessionLoss()},
		{"disconnects", disconnects()},
		{"cancellation", cancellation()},
		{"concurrency", concurrency()},
		{"probe", probe()},
	}
}

func ordered() []subject {
	return []subject{{"order", order()}}
}

func lasting() []subject {
	return []subject{
		{"persistent watches", persistent()},
		{"ends of persistent watches", persistentEnds()},
	}
}

func shared(t *testing.T, open func(t *testing.T) drivers.Service, subjects []subject) {
	service := opened(t, open)
	each(t, subjects, func(t *testing.T, c testCase) {
		t.Parallel()
		c.check(t, service)
	})
}

func bubbled(t *testing.T, open func(t *testing.T) drivers.Service, subjects []subject) {
	each(t, subjects, func(t *testing.T, c testCase) {
		bubble.Test(t, func(t *testing.T) { c.check(t, opened(t, open)) })
	})
}

func each(t *testing.T, subjects []subject, check func(*testing.T, testCase)) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range s.cases {
				t.Run(c.name, func(t *testing.T) { check(t, c) })
			}
		})
	}
}

func opened(t *testing.T, open func(t *testing.T) drivers.Service) drivers.Service {
	service := open(t)
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Errorf("closing the service: %v", err)
		}
	})
	return service
}

// patience is how long a case may take before it counts as hung: far longer than any case
// takes on a slow machine.
const patience = 10 * time.Minute

var errHung = errors.New("the case hung")

// check runs the case with a node and sessions of its own.
func (c testCase) check(t testing.TB, service drivers.Service) {
	defer func() {
		if t.Failed() {
			t.Logf("what the contract promises: %s", c.why)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errHung)
	defer cancel()
	x := begin(ctx, t, service)
	defer x.end()
	c.run(ctx, x)
}
