package namespace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// Default is the node below which every run creates its own subtree, unless its Settings
// name another. A run creates nodes nowhere else.
const Default = "/stampede"

// Check returns an error if a namespace is invalid.
func Check(path string) error {
	names, found := strings.CutPrefix(path, "/")
	for name := range strings.SplitSeq(names, "/") {
		if !found || name == "" || name == "." || name == ".." {
			return fmt.Errorf("namespace %q: want /name, or /name/name… below nodes that exist", path)
		}
	}
	return nil
}

// A Path holds a base and a marker for every active run. The marker is an ephemeral node of
// the run's session beside the base. It is created before the base and removed after it. So if a
// list of the namespace shows a base without a marker, no run will remove the base any more.
type Path string

// marker is the data of the nodes that a run creates for itself. A namespace with other data existed
// before, and is not removed.
const marker = "stampede"

// alive is the suffix of the names of markers.
const alive = ".alive"

// baseLength is the length of a base's name, of random hexadecimal digits: a name that has the form of a
// random identifier, so that stampede observe finds the same path patterns in each run.
const baseLength = 12

// NewBase chooses the path of the node of one run, and creates nothing.
func (n Path) NewBase() string { return string(n) + "/" + randomName() }

// MakeBase creates the node of one run, whose path NewBase chose. If it fails it may have created something.
func (n Path) MakeBase(ctx context.Context, c drivers.Conn, base string) error {
	for {
		err := drivers.Repeat(func() error {
			_, err := c.Create(ctx, string(n), []byte(marker), 0)
			return err
		})
		if errors.Is(err, drivers.ErrNoNode) {
			return fmt.Errorf("namespace %s: the node above it does not exist: %w", n, err)
		}
		if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
			return fmt.Errorf("make the run's namespace: %w", err)
		}
		err = CreateNode(ctx, c, base+alive, nil, drivers.Ephemeral)
		if errors.Is(err, drivers.ErrNoNode) { // another run ended and removed the parent
			continue
		}
		if err == nil {
			err = CreateNode(ctx, c, base, []byte(marker), 0)
		}
		if err != nil {
			err = fmt.Errorf("make the run's namespace: %w", err)
		}
		return err
	}
}

func randomName() string {
	var b [baseLength / 2]byte
	_, _ = rand.Read(b[:]) // it cannot fail
	return hex.EncodeToString(b[:])
}

// RemoveBase removes a run's subtree, and the namespace if it holds no other run.
func (n Path) RemoveBase(ctx context.Context, c drivers.Conn, base string) error {
	if _, err := RemoveTree(ctx, c, base); err != nil {
		return fmt.Errorf("remove %s: %w", base, err)
	}
	if err := remove(ctx, c, base+alive); err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return err
	}
	return n.remove(ctx, c)
}

// remove removes the namespace if a run created it and it is empty.
func (n Path) remove(ctx context.Context, c drivers.Conn) error {
	data, _, err := drivers.Steady(c).Get(ctx, string(n), nil)
	if err == nil && string(data) == marker {
		err = remove(ctx, c, string(n))
	}
	if errors.Is(err, drivers.ErrNotEmpty) || errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// RemoveTree removes a node and all nodes below it, many at a time. Other clients may create and
// remove nodes in it meanwhile. It returns how many nodes it removed.
func RemoveTree(ctx context.Context, c drivers.Conn, path string) (removed int, err error) {
	for {
		children, err := drivers.Steady(c).Children(ctx, path, nil)
		if errors.Is(err, drivers.ErrNoNode) {
			return removed, nil
		}
		if err != nil {
			return removed, err
		}
		var below atomic.Int64
		err = parallel.ForEach(len(children), func(i int) error {
			n, err := RemoveTree(ctx, c, path+"/"+children[i].Name)
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

// CreateNode creates a node that no other client creates.
func CreateNode(ctx context.Context, c drivers.Conn, path string, data []byte, mode drivers.Mode) error {
	err := drivers.Repeat(func() error {
		_, err := c.Create(ctx, path, data, mode)
		return err
	})
	if errors.Is(err, drivers.ErrNodeExists) { // the reply to the first attempt was lost
		return nil
	}
	return err
}
