package exchange

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// connect returns the runs of n processes, whose messages reach all others, until the test ends.
func connect(t *testing.T, n int) (runs []*RunExchange) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	for process := range n {
		post := func(_ context.Context, text []byte) error {
			for i, other := range runs {
				if i == process {
					continue
				}
				if err := other.Receive(text); err != nil {
					return err
				}
			}
			return nil
		}
		runs = append(runs, New(Place{Process: process, Processes: n, First: 2 * process, Count: 2}, post))
	}
	for _, r := range runs {
		sending.Go(func() {
			if err := r.Send(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		sending.Wait()
	})
	return runs
}

func TestCountsAreOfAllProcesses(t *testing.T) {
	runs := connect(t, 3)
	const each = 100
	for _, r := range runs {
		go func() {
			for i := range each {
				r.Instance(0).AnnounceValue("done", 1, int64(i))
				r.Instance(1).Announce("done", 1) // another instance
				r.Instance(0).Announce("done", 2) // another turn
			}
		}()
	}
	for i, r := range runs {
		got, err := r.Instance(0).AwaitTally(t.Context(), "done", 1, Counted(3*each))
		if want := (Tally{3 * each, 3 * each * (each - 1) / 2, each - 1}); err != nil || got != want {
			t.Errorf("process %d has %+v, %v, want %+v", i, got, err, want)
		}
		if err := r.Instance(1).Await(t.Context(), "done", 1, 3*each); err != nil {
			t.Error(err)
		}
	}
}

func TestTextsComeInOrderAndBeforeLaterCounts(t *testing.T) {
	runs := connect(t, 2)
	var got []string
	runs[1].Instance(0).Handle("members", func(text string) { got = append(got, text) })
	var want []string
	for _, text := range []string{"a joins", "b joins", "a leaves"} {
		runs[0].Instance(0).Tell("members", text)
		want = append(want, text)
	}
	runs[0].Instance(0).Announce("made", 1)
	if err := runs[1].Instance(0).Await(t.Context(), "made", 1, 1); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if runs[1].Instance(0).Announced("made", 1) != 1 || runs[1].Instance(0).Announced("made", 2) != 0 {
		t.Error("another turn was announced")
	}
}

// TestNothingIsAwaitedForEver ends a wait by its context, and a process that cannot post.
func TestNothingIsAwaitedForEver(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r := New(Place{Processes: 2}, func(context.Context, []byte) error { return broken })
		ended := make(chan error)
		go func() { ended <- r.Send(t.Context()) }()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { ended <- r.Instance(0).Await(ctx, "never", 1, 1) }()
		cancel(broken)
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		r.Instance(0).Announce("made", 1)
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTheLastAnnouncementIsSent ends a process right after it has announced something.
func TestTheLastAnnouncementIsSent(t *testing.T) {
	other := New(Place{Processes: 2}, nil)
	r := New(Place{Processes: 2}, func(_ context.Context, text []byte) error { return other.Receive(text) })
	ctx, cancel := context.WithCancel(t.Context())
	r.Instance(0).Announce("finished", 7)
	cancel()
	if err := r.Send(ctx); err != nil {
		t.Error(err)
	}
	if n := other.Instance(0).Announced("finished", 7); n != 1 {
		t.Errorf("it came %d times", n)
	}
}

func TestADamagedMessageIsAnError(t *testing.T) {
	if err := New(Place{}, nil).Receive([]byte("{")); err == nil {
		t.Error("it is taken")
	}
}

func TestOneProcessExchangesNothing(t *testing.T) {
	var none *RunExchange
	e := none.Instance(3)
	e.Announce("made", 1)
	e.Tell("members", "a")
	e.Handle("members", nil)
	if e != nil {
		t.Error("one process has an exchange")
	}
}

// TestSessionsOfAProcess divides ten sessions of two instances among processes.
func TestSessionsOfAProcess(t *testing.T) {
	for _, c := range []struct {
		first, count     int // of the process
		instance         int
		wantFirst, wantN int
		owner            bool
	}{
		{0, 3, 0, 0, 3, true}, {0, 3, 1, 0, 0, false}, {3, 4, 0, 3, 2, false}, {3, 4, 1, 0, 2, true}, {7, 3, 1, 2, 3, false}, {0, 10, 1, 0, 5, true},
	} {
		e := New(Place{First: c.first, Count: c.count}, nil).Instance(c.instance)
		first, n := e.Sessions(5)
		if n != c.wantN || n > 0 && first != c.wantFirst || e.Owner(5) != c.owner {
			t.Errorf("%+v: it has %d sessions from %d, owner %v", c, n, first, e.Owner(5))
		}
	}
}
