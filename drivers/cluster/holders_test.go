package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestNoTwoHolders lets a client hold a lock through one member while that member is half alive, and another wait for
// it through the others, again and again. As soon as the other has the lock, no read that the first begins may show it
// its own node, while the fault lasts and afterwards.
//
//	HOLDERS=200 go test -run TestNoTwoHolders -timeout 2h ./drivers/cluster
func TestNoTwoHolders(t *testing.T) {
	testenv.SkipIfShort(t)
	rounds, lanes := 4, 1
	if n, err := strconv.Atoi(os.Getenv("HOLDERS")); err == nil {
		rounds, lanes = n, 4
	}
	var all sync.WaitGroup
	next := make(chan int, rounds)
	for round := range rounds {
		next <- round
	}
	close(next)
	var mu sync.Mutex
	outcomes := map[string]int{}
	for range lanes {
		s, _ := openWith(t, "native:?servers=3&durability=fsync", backends.Options{Divisible: true, OwnDisks: disk.Possible() == nil})
		all.Go(func() {
			for round := range next {
				outcome, err := contend(t, s, round)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					return // the ensemble may be broken
				}
				mu.Lock()
				outcomes[outcome]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%v", outcomes)
}

// TestTwoHoldersAreSeen lets two clients hold one lock on two services that know nothing of each other.
func TestTwoHoldersAreSeen(t *testing.T) {
	testenv.SkipIfShort(t)
	var conns []drivers.Conn
	for range 2 {
		s, _ := openWith(t, "native:?durability=memory", backends.Options{})
		c := dial(t, s)
		defer c.Close()
		conns = append(conns, c)
	}
	if _, err := conns[0].Create(t.Context(), "/lock", []byte("first"), drivers.Ephemeral); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	holds := &holder{conn: conns[0], path: "/lock"}
	go holds.read(ctx)
	granted, err := acquire(ctx, conns[1], "/lock")
	for err == nil && !holds.last().After(granted) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v: it sees no two holders", err, ctx.Err())
	}
}

// contend has one round, and says what came of it.
func contend(t *testing.T, s drivers.Ensemble, round int) (outcome string, err error) {
	r := rand.New(rand.NewPCG(uint64(round), 3))
	timeout := 2*time.Second + time.Duration(r.Int64N(int64(4*time.Second)))
	if round%10 == 9 {
		timeout = 20 * time.Second
	}
	lasts := time.Duration((0.3 + 2*r.Float64()) * float64(timeout))
	m := s.Members()[r.IntN(len(s.Members()))]
	if led := leader(t, s, s.Members()...); r.IntN(2) == 0 {
		m = led
	}
	what, fault := half(r, m)
	say := func(format string, args ...any) error {
		return fmt.Errorf("%s of member %s for %v, session of %v: %w", what, m.Name(), lasts, timeout, fmt.Errorf(format, args...))
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	path, others := fmt.Sprintf("/lock-%d", round), without(s, m)
	first, err := at(t, s, balancer.All, newDialer(), m).Dial(ctx, drivers.Options{SessionTimeout: timeout})
	if err != nil {
		return "", say("the first client: %w", err)
	}
	defer first.Close()
	second, err := at(t, s, balancer.All, newDialer(), others.Members()...).Dial(ctx, drivers.Options{SessionTimeout: time.Minute})
	if err != nil {
		return "", say("the second client: %w", err)
	}
	defer second.Close()
	if _, err := first.Create(ctx, path, []byte("first"), drivers.Ephemeral); err != nil {
		return "", say("the first client: %w", err)
	}
	holds := &holder{conn: first, path: path}
	reading, end := context.WithCancel(ctx)
	var reads sync.WaitGroup
	reads.Go(func() { holds.read(reading) })
	defer reads.Wait()
	defer end()

	if err := fault.apply(); err != nil {
		return "", say("%w", err)
	}
	reads.Go(func() {
		defer end()
		drivers.Pause(reading, lasts)
		if err := fault.undo(ctx); err != nil {
			t.Error(say("%w", err))
		}
		drivers.Pause(reading, timeout+5*time.Second) // what the first client sees after the fault counts too
	})

	granted, err := acquire(reading, second, path)
	reads.Wait()
	if err == nil && holds.last().After(granted) {
		return "", say("the first client read its node %v after the second had the lock", holds.last().Sub(granted))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return "", say("the second client: %w", err)
	}
	if err != nil { // nobody gave the lock to the second: then the first has it
		if _, found, err := drivers.Steady(second).Exists(ctx, path, nil); err != nil || !found {
			return "", say("nobody has the lock: %v", err)
		}
		outcome = "kept"
	} else {
		outcome = "passed on"
	}
	leader(t, s, s.Members()...)
	return what + " " + outcome, nil
}

// half returns a way in which a member is half alive.
func half(r *rand.Rand, m drivers.Member) (what string, f failure) {
	names, all := []string{"a pause", "isolation", "isolation (out)", "isolation (in)", "a hung disk"}, halfAlive(m)
	if m.CanHangDisk() {
		all = append(all, failure{func() error { return m.HangDisk(context.Background()) }, func(context.Context) error { return m.ThawDisk() }})
	}
	i := r.IntN(len(all))
	return names[i], all[i]
}

// A holder is a client that reads the node by which it holds a lock.
type holder struct {
	conn drivers.Conn
	path string

	mu   sync.Mutex
	seen time.Time // when the last read began that showed its node
}

// read reads again and again until the context or the session ends.
func (h *holder) read(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		once, cancel := context.WithTimeout(ctx, time.Second)
		data, _, err := h.conn.Get(once, h.path, nil)
		cancel()
		if err == nil && string(data) == "first" {
			h.mu.Lock()
			h.seen = began
			h.mu.Unlock()
		}
		select {
		case <-h.conn.Done():
			return
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (h *holder) last() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// acquire tries to create the node until it has, and returns when it knew.
func acquire(ctx context.Context, c drivers.Conn, path string) (granted time.Time, err error) {
	for {
		_, err := c.Create(ctx, path, []byte("second"), drivers.Ephemeral)
		if errors.Is(err, drivers.ErrConnectionLoss) { // it may have happened
			var data []byte
			data, _, err = drivers.Steady(c).Get(ctx, path, nil)
			if err == nil && string(data) != "second" {
				err = drivers.ErrNodeExists
			}
		}
		switch {
		case err == nil:
			return time.Now(), nil
		case !errors.Is(err, drivers.ErrNodeExists) && !errors.Is(err, drivers.ErrNoNode):
			return time.Time{}, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return time.Time{}, context.Canceled
		}
	}
}
