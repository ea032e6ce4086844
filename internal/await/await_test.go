package await

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// A recorder is a test that records its failure.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper()                       {}
func (r *recorder) Fatalf(text string, of ...any) { r.failed = fmt.Sprintf(text, of...); panic(r) }

// fails returns what a test fails with in a bubble.
func fails(t *testing.T, test func(testing.TB)) (failed string) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		defer func() {
			recover()
			failed = r.failed
		}()
		test(r)
	})
	return failed
}

func TestTrue(t *testing.T) {
	if failed := fails(t, func(t testing.TB) {
		began := time.Now()
		True(t, "a minute is over", func() bool { return time.Since(began) > time.Minute })
	}); failed != "" {
		t.Error(failed)
	}
	const want = "in 2m0s it does not come to this: pigs fly"
	if failed := fails(t, func(t testing.TB) { True(t, "pigs fly", func() bool { return false }) }); failed != want {
		t.Errorf("failed with %q, want %q", failed, want)
	}
}

func TestValue(t *testing.T) {
	if failed := fails(t, func(t testing.TB) {
		later := make(chan int)
		go func() {
			time.Sleep(time.Minute)
			later <- 7
		}()
		if got := Value(t, "a number comes", later); got != 7 {
			t.Errorf("got %d, want 7", got)
		}
		ended := make(chan struct{})
		close(ended)
		Value(t, "it has ended", ended)
	}); failed != "" {
		t.Error(failed)
	}
	const want = "in 2m0s it does not come to this: an answer"
	if failed := fails(t, func(t testing.TB) { Value(t, "an answer", make(chan int)) }); failed != want {
		t.Errorf("failed with %q, want %q", failed, want)
	}
}
