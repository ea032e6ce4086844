package namespace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
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
		err := drivers.Repeat(ctx, func() error {
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

// Mark creates the marker of a base in a session that takes the place of a lost one, as far as it can.
// The service may still keep the lost session, and its marker.
func Mark(ctx context.Context, c drivers.Conn, base string) {
	_ = remove(ctx, c, base+alive)
	_ = CreateNode(ctx, c, base+alive, nil, drivers.Ephemeral)
}

func randomName() string {
	var b [baseLength / 2]byte
	_, _ = rand.Read(b[:]) // it cannot fail
	return hex.EncodeToString(b[:])
}

// A RemainError is the error of RemoveBase: nodes may remain, which stampede clean removes.
type RemainError struct {
	Base string
	Err  error
}

func (e *RemainError) Error() string {
	return fmt.Sprintf("nodes may remain below %s until stampede clean removes them: %v", e.Base, e.Err)
}

// Unwrap returns why they could not be removed.
func (e *RemainError) Unwrap() error { return e.Err }

// RemoveBase removes a run's subtree, and the namespace if it holds no other run.
func (n Path) RemoveBase(ctx context.Context, c drivers.Conn, base string) error {
	_, err := RemoveTree(ctx, c, base)
	if err == nil {
		err = remove(ctx, c, base+alive)
	}
	if err == nil || errors.Is(err, drivers.ErrNoNode) {
		err = n.remove(ctx, c)
	}
	if err != nil {
		return &RemainError{base, err}
	}
	return nil
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
	return drivers.Repeat(ctx, func() error { return c.Delete(ctx, path, drivers.AnyVersion) })
}

// CreateNode creates a node that no other client creates.
func CreateNode(ctx context.Context, c drivers.Conn, path string, data []byte, mode drivers.Mode) error {
	err := drivers.Repeat(ctx, func() error {
		_, err := c.Create(ctx, path, data, mode)
		return err
	})
	if errors.Is(err, drivers.ErrNodeExists) { // the reply to the first attempt was lost
		return nil
	}
	return err
}

// IsAlive reports whether the process that made the base still has its session, and so removes the base
// itself.
func (n Path) IsAlive(ctx context.Context, c drivers.Conn, base string) (bool, error) {
	_, exists, err := drivers.Steady(c).Exists(ctx, base+alive, nil)
	return exists, err
}

// AwaitEnd returns when IsAlive is false.
func (n Path) AwaitEnd(ctx context.Context, c drivers.Conn, base string) error {
	for {
		var gone drivers.Wait
		_, exists, err := drivers.Steady(c).Exists(ctx, base+alive, gone.Fire)
		if err != nil || !exists {
			return err
		}
		if _, err := gone.Await(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) {
			return err
		}
	}
}

// RemoveEnded waits until the session of the process that makes a base has ended, and removes what is left of
// the base. That process may have been about to make the base, or never have begun. The session c must have
// been opened after that process was last heard of, so that it sees all that the process made.
func (n Path) RemoveEnded(ctx context.Context, c drivers.Conn, base string) error {
	if err := n.AwaitEnd(ctx, c, base); err != nil {
		return err
	}
	_, made, err := drivers.Steady(c).Exists(ctx, base, nil)
	if err != nil {
		return err
	}
	if !made {
		return n.remove(ctx, c)
	}
	// The marker is created before the base, maybe after the first look. Now its absence is final.
	if err := n.AwaitEnd(ctx, c, base); err != nil {
		return err
	}
	return n.RemoveBase(ctx, c, base)
}

// Folders is a set of nodes divided among folders, so that no list of children is long.
type Folders struct {
	Path       string
	Nodes      int
	PerFolder  int
	NameLength int // of each node at least; 0 for names as short as possible
}

// FolderOf returns the folder of a node. Both count from 0.
func (f Folders) FolderOf(node int) int { return node / f.PerFolder }

// FolderPath returns the path of a folder.
func (f Folders) FolderPath(folder int) string { return f.Path + "/" + strconv.Itoa(folder) }

// NodePath returns the path of a node.
func (f Folders) NodePath(i int) string {
	return f.FolderPath(f.FolderOf(i)) + "/" + Pad(strconv.Itoa(i), f.NameLength)
}

// Pad makes a name as long as the given number of bytes, unless it is longer. It puts letters before the name: names
// that end with ten digits would look sequential.
func Pad(name string, length int) string {
	return strings.Repeat("n", max(length-len(name), 0)) + name
}

// NodesIn returns how many nodes are in a folder.
func (f Folders) NodesIn(folder int) int { return min(f.PerFolder, f.Nodes-folder*f.PerFolder) }

// Create creates all folders and nodes, each with its data, many at a time.
func (f Folders) Create(ctx context.Context, c drivers.Conn, data func(node int) []byte) error {
	if err := CreateNode(ctx, c, f.Path, nil, 0); err != nil {
		return err
	}
	last := f.FolderOf(f.Nodes - 1)
	if err := parallel.ForEach(last+1, func(i int) error { return CreateNode(ctx, c, f.FolderPath(i), nil, 0) }); err != nil {
		return err
	}
	return parallel.ForEach(f.Nodes, func(i int) error { return CreateNode(ctx, c, f.NodePath(i), data(i), 0) })
}

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
