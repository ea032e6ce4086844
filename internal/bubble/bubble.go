// Package bubble runs tests in bubbles of testing/synctest.
//
// Each bubble runs on one processor. With more processors, a test under the race detector may
// crash in the detector itself: goroutines of one bubble that receive from expired timers share
// one of the detector's contexts, and on two processors they use it at the same time
// (https://go.dev/issue/78156, open as of Go 1.26). Under the race detector the scheduler still
// picks the next goroutine at random.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test runs f like [synctest.Test], on one processor.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	processors.take()
	defer processors.giveBack()
	synctest.Test(t, f)
}

var processors pool

// A pool manages the processors of this process. While there are bubbles, the process uses only
// one.
type pool struct {
	mu      sync.Mutex
	bubbles int
	all     int // GOMAXPROCS before the first bubble
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
