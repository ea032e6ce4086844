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

// DefaultNamespace is the node below which every run creates its own subtree, unless its Settings
// name another. A run creates nodes nowhere else.
const DefaultNamespace = "/stampede"

// CheckNamespace returns an error if a namespace is invalid.
func CheckNamespace(path string) error {
	names, found := strings.CutPrefix(path, "/")
	for name := range strings.SplitSeq(names, "/") {
		if !found || name == "" || name == "." || name == ".." {
			return fmt.Errorf("namespace %q: want /name, or /name/name… below nodes that exist", path)
		}
	}
	return nil
}

// A namespace holds a base and a marker for every active run. The marker is an ephemeral node of
// the run's session beside the base. It is created before the base and removed after it. So if a
// list of the namespace shows a base without a marker, no run will remove the base any more.
type namespace string

func (s Settings) namespace() namespace {
	return namespace(cmp.Or(s.Namespace, DefaultNamespace))
}

// ours is the data of the nodes that a run creates for itself. A namespace with other data existed
// before, and is not removed.
const ours = "stampede"

// alive is the suffix of the names of markers.
const alive = ".alive"

// baseLength is the length of a base's name, which consists of letters of rand.Text.
const baseLength = 12

// makeBase creates a fresh node for one run and returns its path. If it fails after it may have
// created something it still returns the path.
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
		if errors.Is(err, drivers.ErrNoNode) { // another run ended and removed the parent
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

// removeBase removes a run's subtree, and the namespace if it holds no other run.
func (n namespace) removeBase(ctx context.Context, c drivers.Conn, base string) error {
	if _, err := removeTree(ctx, c, base); err != nil {
		return fmt.Errorf("remove %s: %w", base, err)
	}
	if err := remove(ctx, c, base+alive); err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return err
	}
	return n.remove(ctx, c)
}

// remove removes the namespace if a run created it and it is empty.
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

// removeTree removes a node and all nodes below it, many at a time. Other clients may create and
// remove nodes in it meanwhile. It returns how many nodes it removed.
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

// remove deletes a node. If a reply is lost it tries again, and the node may be gone by then.
func remove(ctx context.Context, c drivers.Conn, path string) error {
	return drivers.Repeat(func() error { return c.Delete(ctx, path, drivers.AnyVersion) })
}
