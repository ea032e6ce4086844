package recipetest

import (
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// A guard is the resource that a lock protects: it looks at who comes in.
type guard struct {
	testing.TB

	mu     sync.Mutex
	inside *lockClient
	grants []*lockClient
	token  int64 // of the last grant, NoSeq for a form without tokens
}

// enter fails the case if somebody else is inside or the token is no higher than
// the last.
func (g *guard) enter(c *lockClient) {
	g.Helper()
	token := c.lock.Token()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside != nil {
		g.Errorf("two clients hold the lock: token %d came in while %d was inside", token, g.token)
	}
	if len(g.grants) > 0 && token <= g.token && max(token, g.token) != drivers.NoSeq {
		g.Errorf("token %d was granted after %d: a resource could not tell the older holder", token, g.token)
	}
	g.inside, g.token = c, token
	g.grants = append(g.grants, c)
}

// leave is harmless for somebody who was deposed and is not inside any more.
func (g *guard) leave(c *lockClient) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == c {
		g.inside = nil
	}
}

// ordered tells whether the form has tokens, and so an order.
func (g *guard) ordered() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.grants) > 0 && g.token != drivers.NoSeq
}

// order is who was granted the lock so far.
func (g *guard) order() []*lockClient {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*lockClient(nil), g.grants...)
}

// within is who is inside, nil if nobody is.
func (g *guard) within() *lockClient {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}
