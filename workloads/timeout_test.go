package workloads_test

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	. "github.com/stampede-bench/stampede/workloads/runtest"
)

// A timeouts is a service that notes the session time-outs that its clients ask for.
type timeouts struct {
	drivers.Service
	mu    sync.Mutex
	asked map[time.Duration]int
}

func (s *timeouts) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[o.SessionTimeout]++
	return s.Service.Dial(ctx, o)
}

// TestClientsAskForTheirSessionTimeout checks that each client asks for the time-out of the plan, and none
// for another if there is none, and that the session which sets the run up asks for a longer one.
func TestClientsAskForTheirSessionTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{0, 4 * time.Second} {
		InBubble(t, func(t *testing.T, s drivers.Service) {
			service := &timeouts{Service: s, asked: map[time.Duration]int{}}
			plan := LockPlan(service, Predecessor)
			plan.SessionTimeout = timeout
			if _, err := workloads.Run(t.Context(), plan); err != nil {
				t.Fatal(err)
			}
			frame := 2 * cmp.Or(timeout, drivers.DefaultSessionTimeout)
			want := map[time.Duration]int{frame: 1, timeout: plan.Clients} // one sets the run up
			if !maps.Equal(service.asked, want) {
				t.Errorf("asked for %v, want %v", service.asked, want)
			}
		})
	}
}
