package faults_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// ledger has the claims of several processes.
type ledger struct {
	mu      sync.Mutex
	claimed map[int]chan struct{}
	owners  map[int]string
}

func (l *ledger) of(fault int) chan struct{} {
	if l.claimed[fault] == nil {
		l.claimed[fault] = make(chan struct{})
	}
	return l.claimed[fault]
}

// A process is one that claims faults.
type process struct {
	*ledger
	name string
}

func (p process) Claim(_ context.Context, fault int) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners[fault] == "" {
		p.owners[fault] = p.name
		close(p.of(fault))
	}
	return p.owners[fault] == p.name, nil
}

func (p process) Await(ctx context.Context, fault int) error {
	p.mu.Lock()
	claimed := p.of(fault)
	p.mu.Unlock()
	select {
	case <-claimed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doTogether performs a schedule in two processes that have the same clients. A process has the holder from a time on,
// 0 means never. It returns what each did, and its error.
func doTogether(t *testing.T, holdsFrom [2]time.Duration, lines ...string) (did [2][]string, errs [2]error) {
	t.Helper()
	shared := &ledger{claimed: map[int]chan struct{}{}, owners: map[int]string{}}
	var both sync.WaitGroup
	for i, from := range holdsFrom {
		d, on := paper()
		on.Claims = process{shared, string(rune('a' + i))}
		on.Holder = func() (int, bool) { return i, from > 0 && time.Since(d.start) >= from }
		s, ctx := schedule(t, lines...), minute(t)
		both.Go(func() {
			errs[i] = s.Do(ctx, on, func(faults.Done) {})
			did[i] = d.lines
		})
	}
	both.Wait()
	return did, errs
}

func TestOneOfSeveralProcessesBreaksTheHolder(t *testing.T) {
	for name, c := range map[string]struct {
		holdsFrom [2]time.Duration
		done      []string // by either
	}{
		"only the second holds": {[2]time.Duration{0, 500 * time.Millisecond}, []string{"1s freeze 2", "2s thaw 2", "3s expire 2"}},
		"the second holds later": {[2]time.Duration{0, 1500 * time.Millisecond},
			[]string{"1.5s freeze 2", "2.5s thaw 2", "3s expire 2"}},
		"the first is the only one later": {[2]time.Duration{14 * time.Second, 0}, []string{"14s freeze 1", "15s thaw 1", "14s expire 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				did, errs := doTogether(t, c.holdsFrom, "at=1s freeze holder for=1s", "at=3s expire holder")
				if errs[0] != nil || errs[1] != nil {
					t.Errorf("%v, %v", errs[0], errs[1])
				}
				got := slices.Concat(did[0], did[1])
				slices.Sort(got)
				slices.Sort(c.done)
				if !slices.Equal(got, c.done) {
					t.Errorf("got %q, want %q", got, c.done)
				}
			})
		})
	}
}

// TestBothProcessesHaveAHolder has a lock whose safety is broken, or several locks.
func TestBothProcessesHaveAHolder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		did, errs := doTogether(t, [2]time.Duration{1, 1}, "at=1s expire holder", "at=2s expire holder", "at=3s expire holder")
		if all := len(did[0]) + len(did[1]); all != 3 || errs[0] != nil || errs[1] != nil {
			t.Errorf("%q, %v: want that each fault is done once", did, errs)
		}
	})
}

func TestNoProcessHasAHolder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		did, errs := doTogether(t, [2]time.Duration{}, "at=1s expire holder")
		failed := slices.DeleteFunc(errs[:], func(err error) bool { return err == nil })
		if len(failed) != 1 || !strings.Contains(failed[0].Error(), "there was no holder for 15s") || len(did[0])+len(did[1]) > 0 {
			t.Errorf("%q, %v: want that one of the two says that there was no holder", did, failed)
		}
	})
}

// TestProcessesDrawTheSameClients has faults that come at the same time, in any order in each process.
func TestProcessesDrawTheSameClients(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		did, errs := doTogether(t, [2]time.Duration{},
			"at=1s expire clients=25%", "at=1s expire clients=50%", "at=1s freeze clients=25% for=1s", "at=1s freeze clients=50% for=2s")
		for i := range did {
			slices.Sort(did[i])
		}
		if len(did[0]) < 7 || !slices.Equal(did[0], did[1]) || errs[0] != nil || errs[1] != nil {
			t.Errorf("one process did %q and the other %q, %v", did[0], did[1], errs)
		}
	})
}
