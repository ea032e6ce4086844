package protected_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// put puts one item and returns its path.
func put(t *testing.T, w *wire) string {
	t.Helper()
	must(t, protected.Put(t.Context(), w.Conn, "/line", "queue-", []byte("it"), 0))
	items, err := w.Conn.Children(t.Context(), "/line", nil)
	must(t, err)
	return "/line/" + items[0].Name
}

// A thief removes all items in the line before it lists or deletes.
type thief struct{ drivers.Conn }

func (b thief) steal(ctx context.Context) {
	items, _ := b.Conn.Children(ctx, "/line", nil)
	for _, i := range items {
		b.Conn.Delete(ctx, "/line/"+i.Name, drivers.AnyVersion)
	}
}

func (b thief) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	b.steal(ctx)
	return b.Conn.Children(ctx, path, w)
}

func (b thief) Delete(ctx context.Context, path string, version int32) error {
	b.steal(ctx)
	return b.Conn.Delete(ctx, path, version)
}

func TestPutLooksForItsItem(t *testing.T) {
	for f, want := range map[fate]error{lost: nil, dropped: drivers.ErrInDoubt} {
		bubble.Test(t, func(t *testing.T) {
			w := session(t)
			w.astray = first("create", f)
			err := protected.Put(t.Context(), w, "/line", "queue-", []byte("it"), 0)
			if !errors.Is(err, want) {
				t.Errorf("fate %d: error %v, want %v", f, err, want)
			}
			nodes := 1
			if f == dropped {
				nodes = 0
			}
			w.expect(t, nodes, "create", "list") // and never a second create
		})
	}
}

// An item that another client takes before Put looks for it is in doubt, and is not put
// again.
func TestPutIsInDoubtIfTheItemIsGone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		w.astray = first("create", lost)
		w.Conn = thief{w.Conn}
		if err := protected.Put(t.Context(), w, "/line", "queue-", []byte("it"), 0); !errors.Is(err, drivers.ErrInDoubt) {
			t.Errorf("error %v, want ErrInDoubt", err)
		}
		w.expect(t, 0, "create", "list")
	})
}

func TestTakeAgainWhereTheReplyIsLost(t *testing.T) {
	type take func(context.Context, drivers.Conn, string) ([]byte, error)
	for name, c := range map[string]struct {
		take take
		fate fate
		want error
	}{
		"done, among others":     {protected.Take, lost, drivers.ErrInDoubt},
		"done, alone":            {protected.TakeAlone, lost, nil},
		"not done, among others": {protected.Take, dropped, nil},
		"not done, alone":        {protected.TakeAlone, dropped, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				w := session(t)
				item := put(t, w)
				w.astray = first("delete", c.fate)
				data, err := c.take(t.Context(), w, item)
				if !errors.Is(err, c.want) || string(data) != "it" {
					t.Errorf("took %q with error %v, want %q with %v", data, err, "it", c.want)
				}
				w.expect(t, 0, "get", "delete", "delete")
			})
		})
	}
}

func TestWhoIsSecondHasNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		item := put(t, w)
		w.Conn = thief{w.Conn}
		if data, err := protected.Take(t.Context(), w, item); !errors.Is(err, drivers.ErrNoNode) || data != nil {
			t.Errorf("took %q with error %v, want nothing with ErrNoNode", data, err)
		}
		if data, err := protected.Take(t.Context(), w, item); !errors.Is(err, drivers.ErrNoNode) || data != nil {
			t.Errorf("took %q with error %v, want nothing with ErrNoNode", data, err)
		}
		w.expect(t, 0, "get", "delete", "get")
	})
}

// A caller that gives up during Take gets the item all the same, which would be lost
// otherwise.
func TestTakeSeesThroughWhatItBegan(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		item := put(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		w.astray = func(string) fate { cancel(); return delivered }
		if data, err := protected.Take(ctx, w, item); err != nil || string(data) != "it" {
			t.Errorf("took %q with error %v", data, err)
		}
		w.expect(t, 0, "get", "delete")
	})
}

// A session that ends during Take leaves the item in doubt.
func TestTakeIsInDoubtIfTheSessionIsLost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		item := put(t, w)
		w.Conn = closing{w.Conn}
		data, err := protected.TakeAlone(t.Context(), w, item)
		if !errors.Is(err, drivers.ErrInDoubt) || !errors.Is(err, drivers.ErrSessionLost) || string(data) != "it" {
			t.Errorf("took %q with error %v, want %q with ErrInDoubt and ErrSessionLost", data, err, "it")
		}
	})
}

// A closing Conn closes the session before it deletes.
type closing struct{ drivers.Conn }

func (b closing) Delete(ctx context.Context, path string, version int32) error {
	b.Conn.Close()
	return b.Conn.Delete(ctx, path, version)
}
