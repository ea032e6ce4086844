package namespace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A Leftover is a run's subtree on a service.
type Leftover struct {
	Path  string
	Nodes int // 0 for an active run
	// Alive: the run is active, or was killed so recently that the service has not expired its
	// session yet.
	Alive bool
}

// Clean removes what killed runs left below a namespace. It leaves the subtrees of active runs and
// all nodes that no run made. It returns every run that it finds. With dry it counts the nodes and
// removes nothing.
func Clean(ctx context.Context, c drivers.Conn, in string, dry bool) ([]Leftover, error) {
	n := Path(in)
	found, err := n.runs(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("look below %s: %w", n, err)
	}
	take := RemoveTree
	if dry {
		take = countTree
	}
	for i := range found {
		if found[i].Alive {
			continue
		}
		if found[i].Nodes, err = take(ctx, c, found[i].Path); err != nil {
			return found[:i], fmt.Errorf("remove %s: %w", found[i].Path, err)
		}
	}
	if dry {
		return found, nil
	}
	return found, n.remove(ctx, c)
}

// runs lists the runs with a subtree in the namespace. A single list shows whether a run is alive:
// see namespace.
func (n Path) runs(ctx context.Context, c drivers.Conn) ([]Leftover, error) {
	children, err := c.Children(ctx, string(n), nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(children))
	for _, child := range children {
		there[child.Name] = true
	}
	var found []Leftover
	for _, child := range children {
		path := string(n) + "/" + child.Name
		if !isBase(child.Name) {
			continue
		}
		data, _, err := c.Get(ctx, path, nil)
		if errors.Is(err, drivers.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if string(data) == marker {
			found = append(found, Leftover{Path: path, Alive: there[child.Name+alive]})
		}
	}
	return found, nil
}

// isBase reports whether NewBase may have chosen the name. Earlier versions chose letters in base 32.
func isBase(name string) bool {
	earlier := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz234567") == ""
	return len(name) == baseLength && (earlier || strings.Trim(name, "0123456789abcdef") == "")
}

// countTree counts a node and all nodes below it.
func countTree(ctx context.Context, c drivers.Conn, path string) (int, error) {
	children, err := c.Children(ctx, path, nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return 0, nil
	}
	count := 1
	for _, child := range children {
		n, err := countTree(ctx, c, path+"/"+child.Name)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, err
}
