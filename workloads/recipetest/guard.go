package recipetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// A guard is the resource that a lock protects. It checks the clients that enter.
type guard struct {
	testing.TB

	mu     sync.Mutex
	inside []*lockClient
	grants []*lockClient
	newest int64 // the highest token granted
	writer int64 // the highest token granted to a client that does not share
}

// enter fails the case if a client is inside with which c cannot share the lock. It also
// fails the case if c's token is not higher than the earlier tokens of all clients with
// which c could not share the lock.
func (g *guard) enter(c *lockClient) {
	g.Helper()
	token := c.lock.Token()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.inside {
		if !c.shares() || !other.shares() {
			g.Errorf("two clients hold the lock: token %d was granted while %d was held", token, other.lock.Token())
		}
	}
	earlier := g.newest
	if c.shares() {
		earlier = g.writer
	}
	if len(g.grants) > 0 && token <= earlier && max(token, earlier) != drivers.NoSeq {
		g.Errorf("token %d was granted after %d: a resource could not refuse the older holder", token, earlier)
	}
	g.newest = max(g.newest, token)
	if !c.shares() {
		g.writer = max(g.writer, token)
	}
	g.inside = append(g.inside, c)
	g.grants = append(g.grants, c)
}

// leave removes the client. It does nothing if the client was deposed and is not inside.
func (g *guard) leave(c *lockClient) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside = slices.DeleteFunc(g.inside, func(other *lockClient) bool { return other == c })
}

// ordered reports whether the form has tokens, and so an order of grants.
func (g *guard) ordered() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.grants) > 0 && g.newest != drivers.NoSeq
}

// order returns the clients that were granted the lock so far, in order.
func (g *guard) order() []*lockClient {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.grants)
}

// has reports whether the client is inside.
func (g *guard) has(c *lockClient) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.inside, c)
}
