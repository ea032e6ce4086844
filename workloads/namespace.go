package workloads

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// DefaultNamespace is the node below which every run makes a subtree of its
// own, unless its Settings name another. Nothing is made anywhere else.
const DefaultNamespace = "/stampede"

// CheckNamespace says what is wrong with a namespace.
func CheckNamespace(path string) error {
	names, found := strings.CutPrefix(path, "/")
	for name := range strings.SplitSeq(names, "/") {
		if !found || name == "" || name == "." || name == ".." {
			return fmt.Errorf("namespace %q: want /name, or /name/name… below nodes that exist", path)
		}
	}
	return nil
}

// A namespace holds, of every run that goes on, a base and a marker: a node
// beside the base that goes with the run's session. The marker is made before
// the base and removed after it, so that a list of the namespace with a base
// and no marker says that nobody will remove the base any more.
type namespace string

func (s Settings) namespace() namespace {
	return namespace(cmp.Or(s.Namespace, DefaultNamespace))
}

// ours is the data of the nodes that a run makes for itself. A namespace
// without it was there before, and stays.
const ours = "stampede"

// alive ends the names of markers.
const alive = ".alive"

// baseLength is that of a base's name, which has the letters of rand.Text.
const baseLength = 12

// makeBase makes a fresh node for one run and returns its path, also if it
// fails with something made.
func (n namespace) makeBase(ctx context.Context, c drivers.Conn) (string, error) {
	base := string(n) + "/" + strings.ToLower(rand.Text()[:baseLength])
	for {
		err := drivers.Repeat(func() error {
			_, err := c.Create(ctx, string(n), []byte(ours), 0)
			return err
		})
		if errors.Is(err, drivers.ErrNoNode) {
			return "", fmt.Errorf("namespace %s: the node above it does not exist: %w", n, err)
		}
		if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
			return "", fmt.Errorf("make the run's namespace: %w", err)
		}
		err = makeNode(ctx, c, base+alive, nil, drivers.Ephemeral)
		if errors.Is(err, drivers.ErrNoNode) { // a run that ended took the parent away
			continue
		}
		if err == nil {
			err = makeNode(ctx, c, base, []byte(ours), 0)
		}
		if err != nil {
			err = fmt.Errorf("make the run's namespace: %w", err)
		}
		return base, err
	}
}

// removeBase removes a run's subtree, and the namespace if no other run is in it.
func (n namespace) removeBase(ctx context.Context, c drivers.Conn, base string) error {
	if _, err := removeTree(ctx, c, base); err != nil {
		return fmt.Errorf("remove %s: %w", base, err)
	}
	if err := remove(ctx, c, base+alive); err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return err
	}
	return n.remove(ctx, c)
}

// remove removes the namespace if a run made it and nothing is left in it.
func (n namespace) remove(ctx context.Context, c drivers.Conn) error {
	data, _, err := drivers.Steady(c).Get(ctx, string(n), nil)
	if err == nil && string(data) == ours {
		err = remove(ctx, c, string(n))
	}
	if errors.Is(err, drivers.ErrNotEmpty) || errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// removeTree removes a node with all that is below it, many at a time, while others
// may still be adding and removing, and tells how many nodes it removed.
func removeTree(ctx context.Context, c drivers.Conn, path string) (removed int, err error) {
	for {
		children, err := drivers.Steady(c).Children(ctx, path, nil)
		if errors.Is(err, drivers.ErrNoNode) {
			return removed, nil
		}
		if err != nil {
			return removed, err
		}
		var below atomic.Int64
		err = inParallel(len(children), func(i int) error {
			n, err := removeTree(ctx, c, path+"/"+children[i].Name)
			below.Add(int64(n))
			return err
		})
		removed += int(below.Load())
		if err != nil {
			return removed, err
		}
		switch err = remove(ctx, c, path); {
		case err == nil:
			return removed + 1, nil
		case errors.Is(err, drivers.ErrNoNode):
			return removed, nil
		case !errors.Is(err, drivers.ErrNotEmpty):
			return removed, err
		}
	}
}

// remove deletes a node, again where the reply was lost: then it may be gone.
func remove(ctx context.Context, c drivers.Conn, path string) error {
	return drivers.Repeat(func() error { return c.Delete(ctx, path, drivers.AnyVersion) })
}
