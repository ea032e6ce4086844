package recipes

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// RecursiveNames is [Names] with one persistent recursive watch over all names
// instead of one watch for each copy. No read has to arm a watch again, but a
// client is also notified of changes to names that it has never looked up.
// Cost: N clients, M names, U changes, each client looks up all names L times
// before the first and after each change: N·U notifications, N(M+U) reads, U
// writes; a change wakes N.
type RecursiveNames struct {
	Names
	conn  drivers.PersistentWatcher
	armed bool

	mu   sync.Mutex
	kept map[string]*kept
}

// A kept value was looked up and has not changed since.
type kept struct {
	value []byte
	known bool // the read was answered
}

// NewRecursiveNames returns the names in dir, an existing node.
func NewRecursiveNames(conn drivers.PersistentWatcher, dir string) *RecursiveNames {
	p := drivers.Persistent(conn)
	return &RecursiveNames{Names: Names{conn: p, dir: dir}, conn: p, kept: make(map[string]*kept)}
}

// Lookup is like [Names.Lookup].
func (n *RecursiveNames) Lookup(ctx context.Context, name string) (value []byte, err error) {
	value, err = n.lookup(ctx, name)
	if err != nil {
		err = fmt.Errorf("look up %s in %s: %w", name, n.dir, err)
	}
	return value, err
}

func (n *RecursiveNames) lookup(ctx context.Context, name string) (value []byte, err error) {
	// 1. On the first look-up, set a persistent recursive watch on all names.
	// It stays for as long as the session lives.
	if !n.armed {
		if _, err := n.conn.WatchTree(ctx, n.dir, n.drop); err != nil {
			return nil, err
		}
		n.armed = true
	}
	// 2. Return the kept value.
	k := n.keep(name)
	if k.known {
		return k.value, nil
	}
	// 3. Otherwise get the name's node, without a watch, and keep the value,
	// unless it changes during the read.
	k.value, _, err = n.conn.Get(ctx, path.Join(n.dir, name), nil)
	k.known = err == nil
	return k.value, err
}

// keep returns the entry for the name, which may have no value yet.
func (n *RecursiveNames) keep(name string) *kept {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.kept[name]
	if k == nil {
		k = &kept{}
		n.kept[name] = k
	}
	return k
}

// drop removes the value that has changed. If changes may have been missed, it
// removes all values.
func (n *RecursiveNames) drop(e drivers.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Type == drivers.Lost || e.Type == drivers.Rearmed {
		clear(n.kept)
		return
	}
	delete(n.kept, strings.TrimPrefix(e.Path, n.dir+"/"))
}
