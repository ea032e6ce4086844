package ensemble

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestCatchUpEndsWhereAServerDoesNot syncs at a server that stays behind what another has shown, as one that is not of the
// same ensemble does. The error names both positions, and the syncs are few.
func TestCatchUpEndsWhereAServerDoesNot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, err := New(Config{Servers: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		e.Show(0x5003)
		syncs, began := 0, time.Now()
		behind := func() (int64, error) { syncs++; return 4, nil }
		err = e.CatchUp(t.Context(), behind)
		if took := time.Since(began); took < catchUpTime || took > catchUpTime+maxBackoff {
			t.Errorf("it took %v, want %v", took, catchUpTime)
		}
		if err == nil || !strings.Contains(err.Error(), "shown position 0x5003, and another is still at 0x4") || syncs > 20 {
			t.Errorf("after %d syncs: %v, want both positions after at most 20", syncs, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.CatchUp(ctx, behind); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a deadline: %v", err)
		}
	})
}

// TestCatchUpRepeats syncs at a server that catches up.
func TestCatchUpRepeats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, err := New(Config{Servers: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		e.Show(9)
		position := int64(6)
		if err := e.CatchUp(t.Context(), func() (int64, error) { position++; return position, nil }); err != nil || position != 9 {
			t.Errorf("%v at %d, want 9", err, position)
		}
	})
}
