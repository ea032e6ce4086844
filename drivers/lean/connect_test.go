package lean

import (
	"context"
	"testing"
	"time"
)

// A lagging context has not noticed yet that its deadline has passed, as on a busy machine.
type lagging struct {
	context.Context
	deadline time.Time
}

func (l lagging) Deadline() (time.Time, bool) { return l.deadline, true }

func TestEnded(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		want bool
	}{
		{"no deadline", t.Context(), false},
		{"cancelled", cancelled, true},
		{"before its deadline", lagging{t.Context(), time.Now().Add(time.Hour)}, false},
		{"its deadline has passed", lagging{t.Context(), time.Now()}, true},
	} {
		if got := ended(c.ctx); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
