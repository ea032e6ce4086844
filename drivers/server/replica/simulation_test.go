package replica

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// simulate runs one schedule and returns a hash of all that happened, and what is wrong.
func simulate(seed uint64) (trace uint64, wrong error) { return simulateWith(seed, schedule) }

func simulateWith(seed uint64, do func(w *world)) (trace uint64, wrong error) {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	keep := cryptorand.Reader
	cryptorand.Reader = seededReader{rand.NewChaCha8(key)}
	defer func() {
		cryptorand.Reader = keep
		switch v := recover().(type) {
		case nil:
		case violation:
			wrong = v.error
		default:
			panic(v)
		}
	}()
	members := 3
	if seed%4 == 3 {
		members = 5
	}
	w := newWorld(seed, members)
	do(w)
	return w.trace, nil
}

// schedule lets faults happen, ends them and checks what is left.
func schedule(w *world) {
	w.run(time.Second)
	if w.chance(0.2) {
		w.freezeLeaders()
	} else {
		for range 4 + w.r.IntN(12) {
			w.wreck()
			w.run(w.between(100*time.Millisecond, 2*time.Second))
		}
	}
	w.heal()
	w.run(13 * time.Second)
	w.stopped = true
	w.run(4 * time.Second)
	for range 100 {
		if w.level() {
			break
		}
		w.run(100 * time.Millisecond)
	}
	if !w.level() {
		w.fail("not all members have applied the same entries")
	}
	if w.healing != nil {
		w.fail("member %d did not catch up", w.healing.id)
	}
	for _, c := range w.clients {
		c.settled()
	}
	w.oracle.settled()
}

// schedules returns the number of schedules to run.
func schedules(t *testing.T) int {
	text := os.Getenv("SCHEDULES")
	if text == "" {
		if testing.Short() {
			return 300
		}
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SCHEDULES=%s: want a number of schedules, at least 1", text)
	}
	return n
}

// TestSimulation runs whole ensembles with faults and checks what their clients saw. The environment
// variable SCHEDULES sets the number of schedules, and SEED the first one.
func TestSimulation(t *testing.T) {
	testenv.SkipIfRaced(t) // it has one goroutine
	first := uint64(1)
	if text := os.Getenv("SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("SEED=%s: want a number", text)
		}
		first = n
	}
	for seed := range uint64(schedules(t)) {
		if _, wrong := simulate(first + seed); wrong != nil {
			t.Fatalf("SEED=%d: %v", first+seed, wrong)
		}
	}
}

// A schedule is determined by its seed.
func TestSimulationIsDeterministic(t *testing.T) {
	for seed := range uint64(20) {
		a, _ := simulate(seed + 1)
		b, _ := simulate(seed + 1)
		if a != b || a == 0 {
			t.Errorf("SEED=%d: traces %x and %x", seed+1, a, b)
		}
	}
}
