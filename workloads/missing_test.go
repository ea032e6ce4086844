package workloads_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// An unwilling service expires no session: what that takes, such as a further connection, it does not accept.
type unwilling struct{ drivers.Service }

func (unwilling) Expire(ctx context.Context, _ drivers.Conn) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestAFaultThatDoesNotHappenIsAnError checks that a run whose fault did not happen ends with an error that names it, and keeps what
// it has measured.
func TestAFaultThatDoesNotHappenIsAnError(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := broken(t, unwilling{s}, runtest.Predecessor, "at=1s expire client=1")
		r, err := workloads.Run(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), `fault "at=1s expire client=1" did not happen`) {
			t.Errorf("error %v", err)
		}
		if r == nil || r.Rounds == 0 || !has(r.Doubts, metrics.FormFailed) {
			t.Errorf("measured: %+v", r)
		}
	})
}
