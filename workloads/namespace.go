package workloads

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// Namespace is the node under which every run makes a subtree of its own, and
// the only place where anything is made.
const Namespace = "/stampede"

// makeBase makes a fresh node for one run and returns its path.
func makeBase(ctx context.Context, c drivers.Conn) (string, error) {
	base := Namespace + "/" + strings.ToLower(rand.Text()[:12])
	for {
		_, err := c.Create(ctx, Namespace, nil, 0)
		if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
			return "", fmt.Errorf("make the run's namespace: %w", err)
		}
		switch _, err = c.Create(ctx, base, nil, 0); {
		case err == nil:
			return base, nil
		case !errors.Is(err, drivers.ErrNoNode): // a run that ended took the parent away
			return "", fmt.Errorf("make the run's namespace: %w", err)
		}
	}
}

// removeBase removes a run's subtree, and the namespace if no other run is in it.
func removeBase(ctx context.Context, c drivers.Conn, base string) error {
	if err := removeTree(ctx, c, base); err != nil {
		return fmt.Errorf("remove %s: %w", base, err)
	}
	err := c.Delete(ctx, Namespace, drivers.AnyVersion)
	if errors.Is(err, drivers.ErrNotEmpty) || errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// removeTree removes a node with all that is below it, while others may still
// be adding and removing.
func removeTree(ctx context.Context, c drivers.Conn, path string) error {
	for {
		children, err := c.Children(ctx, path, nil)
		if errors.Is(err, drivers.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := removeTree(ctx, c, path+"/"+child.Name); err != nil {
				return err
			}
		}
		err = c.Delete(ctx, path, drivers.AnyVersion)
		if err == nil || errors.Is(err, drivers.ErrNoNode) {
			return nil
		}
		if !errors.Is(err, drivers.ErrNotEmpty) {
			return err
		}
	}
}
