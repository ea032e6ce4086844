package drivers

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A flaky Conn fails its first reads with err, as many as fails says, then answers.
type flaky struct {
	Conn  // nil: nothing else may be called
	fails int
	err   error
	calls int
}

func (f *flaky) answer() error {
	f.calls++
	if f.calls <= f.fails {
		return f.err
	}
	return nil
}

func (f *flaky) Exists(context.Context, string, Watch) (Stat, bool, error) {
	return Stat{Version: 3}, true, f.answer()
}

func (f *flaky) Get(context.Context, string, Watch) ([]byte, Stat, error) {
	return []byte("data"), Stat{Version: 3}, f.answer()
}

func (f *flaky) Children(context.Context, string, Watch) ([]Child, error) {
	return []Child{{"a", 7}}, f.answer()
}

func (f *flaky) Sync(context.Context, string) error { return f.answer() }

func (f *flaky) Create(context.Context, string, []byte, Mode) (Child, error) {
	return Child{}, f.answer()
}

// reads are the calls that Steady repeats; each reports whether the answer is right.
var reads = map[string]func(context.Context, Conn) (bool, error){
	"exists": func(ctx context.Context, c Conn) (bool, error) {
		stat, found, err := c.Exists(ctx, "/a", nil)
		return found && stat.Version == 3, err
	},
	"get": func(ctx context.Context, c Conn) (bool, error) {
		data, stat, err := c.Get(ctx, "/a", nil)
		return string(data) == "data" && stat.Version == 3, err
	},
	"children": func(ctx context.Context, c Conn) (bool, error) {
		children, err := c.Children(ctx, "/a", nil)
		return len(children) == 1 && children[0] == Child{"a", 7}, err
	},
	"sync": func(ctx context.Context, c Conn) (bool, error) {
		return true, c.Sync(ctx, "/a")
	},
}

func TestSteadyAsksAgain(t *testing.T) {
	for name, read := range reads {
		f := &flaky{fails: 2, err: ErrConnectionLoss}
		if right, err := read(t.Context(), Steady(f)); err != nil || !right || f.calls != 3 {
			t.Errorf("%s: right %v, error %v after %d calls, want the answer after 3", name, right, err, f.calls)
		}
	}
}

func TestSteadyPassesOtherErrorsOn(t *testing.T) {
	for name, read := range reads {
		f := &flaky{fails: 2, err: ErrSessionLost}
		if _, err := read(t.Context(), Steady(f)); !errors.Is(err, ErrSessionLost) || f.calls != 1 {
			t.Errorf("%s: error %v after %d calls, want %v after 1", name, err, f.calls, ErrSessionLost)
		}
	}
}

// A context may have ended because another client lost its connection. Each call then returns that
// cause at once, and no loop repeats it.
func TestSteadyEndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	end(fmt.Errorf("another client: %w", ErrConnectionLoss))
	for name, read := range reads {
		f := &flaky{fails: 100, err: context.Cause(ctx)}
		if _, err := read(ctx, Steady(f)); !errors.Is(err, ErrConnectionLoss) || f.calls != 1 {
			t.Errorf("%s: error %v after %d calls, want the cause after 1", name, err, f.calls)
		}
	}
}

func TestSteadyLeavesWritesAlone(t *testing.T) {
	f := &flaky{fails: 2, err: ErrConnectionLoss}
	if _, err := Steady(f).Create(t.Context(), "/a", nil, 0); !errors.Is(err, ErrConnectionLoss) || f.calls != 1 {
		t.Errorf("create: error %v after %d calls, want %v after 1", err, f.calls, ErrConnectionLoss)
	}
}
