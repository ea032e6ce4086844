package replica

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// simulate runs one schedule and returns what is wrong, or "", and a hash of all that happened.
func simulate(seed uint64) (what string, trace uint64) {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	cryptorand.Reader = seededReader{rand.NewChaCha8(key)}
	var w *world
	defer func() {
		switch v := recover().(type) {
		case nil:
		case violation:
			what = v.what
		default:
			panic(v)
		}
	}()
	members := 3
	if seed%4 == 3 {
		members = 5
	}
	w = newWorld(seed, members)
	w.run(time.Second)
	for range 4 + w.r.IntN(12) {
		w.wreck()
		w.run(w.between(100*time.Millisecond, 2*time.Second))
	}
	for w.healing != nil { // a member whose disk was replaced counts as failed until it has caught up
		w.run(100 * time.Millisecond)
		if w.now > time.Hour {
			w.fail("member %d never caught up", w.healing.id)
		}
	}
	w.heal()
	w.run(13 * time.Second)
	w.stopped = true
	w.run(4 * time.Second)
	for _, c := range w.clients {
		c.settled()
	}
	w.oracle.settled()
	return "", w.trace
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
	first := uint64(1)
	if text := os.Getenv("SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("SEED=%s: want a number", text)
		}
		first = n
	}
	keep := cryptorand.Reader
	defer func() { cryptorand.Reader = keep }()
	for seed := range uint64(schedules(t)) {
		if what, _ := simulate(first + seed); what != "" {
			t.Fatalf("SEED=%d: %s", first+seed, what)
		}
	}
}

// A schedule is determined by its seed.
func TestSimulationIsDeterministic(t *testing.T) {
	keep := cryptorand.Reader
	defer func() { cryptorand.Reader = keep }()
	for seed := range uint64(20) {
		_, a := simulate(seed + 1)
		_, b := simulate(seed + 1)
		if a != b || a == 0 {
			t.Errorf("SEED=%d: traces %x and %x", seed+1, a, b)
		}
	}
}
