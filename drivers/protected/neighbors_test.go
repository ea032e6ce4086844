package protected_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A joiner is a wire whose service lists a node's neighbors with its creation.
type joiner struct{ *wire }

func (j joiner) Neighbors(ctx context.Context, path string, _ int64) ([]drivers.Child, error) {
	return j.Children(ctx, path, nil)
}

func (j joiner) Join(ctx context.Context, path string, data []byte, mode drivers.Mode) (made drivers.Child, neighbors []drivers.Child, err error) {
	made, err = j.Create(ctx, path, data, mode)
	if err == nil {
		neighbors, err = j.wire.Conn.Children(ctx, "/line", nil)
	}
	return made, neighbors, err
}

// behind creates a node behind another one, and returns a function that checks the neighbors.
func behind(t *testing.T, w *wire, c drivers.Conn) (node *protected.Claim, neighbors func()) {
	t.Helper()
	first := protected.NewPlace(w.Conn, "/line", "lock-")
	must(t, first.Create(t.Context()))
	node = protected.NewPlaceWithNeighbors(c, "/line", "lock-")
	return node, func() {
		t.Helper()
		line, err := node.Neighbors(t.Context())
		must(t, err)
		if ahead, err := node.Ahead(line); err != nil || "/line/"+ahead != first.Path() || !slices.Contains(protected.Names(line), node.Path()[len("/line/"):]) {
			t.Errorf("ahead in %v is %q (%v), want %q", line, ahead, err, first.Path())
		}
	}
}

// The neighbors that come with the creation are used once; later calls read.
func TestNeighborsComeWithTheCreation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		node, neighbors := behind(t, w, joiner{w})
		must(t, node.Create(t.Context()))
		neighbors()
		w.expect(t, 2, "create")
		neighbors()
		w.expect(t, 2, "create", "list")
		must(t, node.Remove(t.Context()))
		must(t, node.Create(t.Context()))
		neighbors()
		w.expect(t, 2, "create", "list", "delete", "create")
	})
}

// If the reply to the creation is lost, the neighbors are lost too.
func TestNeighborsAreReadAfterALostReply(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		node, neighbors := behind(t, w, joiner{w})
		must(t, node.Create(t.Context()))
		must(t, node.Remove(t.Context()))
		w.asked, w.astray = nil, first("create", lost)
		must(t, node.Create(t.Context()))
		w.expect(t, 2, "create", "list") // to find its node
		neighbors()
		w.expect(t, 2, "create", "list", "list")
	})
}

// A Conn that cannot list neighbors lists all children.
func TestNeighborsAreListed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		node, neighbors := behind(t, w, w)
		must(t, node.Create(t.Context()))
		neighbors()
		neighbors()
		w.expect(t, 2, "create", "list", "list")
	})
}
