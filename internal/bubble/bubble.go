// Package bubble runs tests in bubbles of testing/synctest.
//
// Each runs on one processor. With more, a test under the race detector may crash
// in the detector itself: goroutines of one bubble that receive from timers whose
// time has come share one of its contexts, and on two processors they do so at
// once (https://go.dev/issue/78156, open as of Go 1.26). Which goroutine is next
// the scheduler still draws under the race detector.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test runs f as [synctest.Test] does.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	processors.take()
	defer processors.giveBack()
	synctest.Test(t, f)
}

var processors pool

// A pool is the processors of this process, all but one of which are taken away
// while there are bubbles.
type pool struct {
	mu      sync.Mutex
	bubbles int
	all     int // while there are bubbles
}

func (p *pool) take() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bubbles == 0 {
		p.all = runtime.GOMAXPROCS(1)
	}
	p.bubbles++
}

func (p *pool) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bubbles--
	if p.bubbles == 0 {
		runtime.GOMAXPROCS(p.all)
	}
}
