package exchange

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// silence receives nothing.
func silence(ctx context.Context, _ func([]byte) error) error {
	<-ctx.Done()
	return nil
}

// connect returns the runs of n processes, whose messages reach all others, until the test ends.
func connect(t *testing.T, n int) (runs []*RunExchange) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for process := range n {
		post := func(_ context.Context, text []byte) error {
			for i, other := range runs {
				if i == process {
					continue
				}
				if err := other.take(text); err != nil {
					return err
				}
			}
			return nil
		}
		runs = append(runs, New(Place{Process: process, Processes: n, First: 2 * process, Count: 2}, post, silence))
	}
	for _, r := range runs {
		running.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
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
		r := New(Place{Processes: 2}, func(context.Context, []byte) error { return broken }, silence)
		ended := make(chan error)
		go func() { ended <- r.Run(t.Context()) }()
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
	other := Alone(Place{Processes: 2})
	r := New(Place{Processes: 2}, func(_ context.Context, text []byte) error { return other.take(text) }, silence)
	ctx, cancel := context.WithCancel(t.Context())
	r.Instance(0).Announce("finished", 7)
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Error(err)
	}
	if n := other.Instance(0).Announced("finished", 7); n != 1 {
		t.Errorf("it came %d times", n)
	}
}

func TestADamagedMessageIsAnError(t *testing.T) {
	if err := Alone(Place{}).take([]byte("{")); err == nil {
		t.Error("it is taken")
	}
}

// TestOneProcessCountsForItself lets the only process of a run announce, wait, and act after an announcement.
func TestOneProcessCountsForItself(t *testing.T) {
	r := Alone(Everywhere())
	if err := r.Run(t.Context()); err != nil {
		t.Error(err)
	}
	e := r.Instance(3)
	e.Tell("members", "a")
	if first, n := e.Sessions(5); first != 0 || n != 5 || !e.Owner(5) {
		t.Errorf("it has %d sessions from %d, want all", n, first)
	}
	broken, early := errors.New("broken"), make(chan struct{})
	if err := e.CallWhen(t.Context(), "made", 1, 2, func() error { close(early); return broken }); err != nil {
		t.Errorf("got %v before anything was announced", err)
	}
	if got := e.AnnounceValue("made", 1, 5); got != (Tally{1, 5, 5}) {
		t.Errorf("got %+v", got)
	}
	e.Announce("made", 1)
	r.Wait()
	<-early
	if err := e.CallWhen(t.Context(), "made", 1, 2, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of what is done at once", err)
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
		e := Alone(Place{First: c.first, Count: c.count}).Instance(c.instance)
		first, n := e.Sessions(5)
		if n != c.wantN || n > 0 && first != c.wantFirst || e.Owner(5) != c.owner {
			t.Errorf("%+v: it has %d sessions from %d, owner %v", c, n, first, e.Owner(5))
		}
	}
}
