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

// simulateEach runs twenty schedules with three members, five in short, each from another seed.
func simulateEach(t *testing.T, do func(w *world)) {
	t.Helper()
	last := uint64(80)
	if testing.Short() {
		last = 20
	}
	for seed := uint64(0); seed < last; seed += 4 { // see simulateWith
		if _, wrong := simulateWith(seed, do); wrong != nil {
			t.Errorf("SEED=%d: %v", seed, wrong)
		}
	}
}

func simulateWith(seed uint64, do func(w *world)) (trace uint64, wrong error) {
	w, wrong := simulated(seed, do)
	if wrong != nil {
		return 0, wrong
	}
	return w.trace, nil
}

func simulated(seed uint64, do func(w *world)) (w *world, wrong error) {
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
	w = newWorld(seed, members)
	do(w)
	return w, nil
}

// schedule lets faults happen, ends them and checks what is left.
func schedule(w *world) {
	w.run(time.Second)
	switch n := w.r.IntN(10); {
	case w.seed%5 == 4:
		w.replaceDisks()
	case n < 2:
		w.freezeLeaders()
	case n < 5:
		w.outlast()
	default:
		for range 4 + w.r.IntN(12) {
			w.wreck()
			w.run(w.between(100*time.Millisecond, 2*time.Second))
		}
	}
	w.settle()
}

// settle ends the faults, and checks what is left.
func (w *world) settle() {
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
			return 100
		}
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SCHEDULES=%s: want a number of schedules, at least 1", text)
	}
	return n
}

// firstSeed returns the seed of the first schedule.
func firstSeed(t *testing.T) uint64 {
	text := os.Getenv("SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SEED=%s: want a number", text)
	}
	return n
}

// TestSimulation runs whole ensembles with faults and checks what their clients saw. The environment
// variable SCHEDULES sets the number of schedules, and SEED the first one.
func TestSimulation(t *testing.T) {
	testenv.SkipIfRaced(t) // it has one goroutine
	first := firstSeed(t)
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
