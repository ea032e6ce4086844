package observe

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

const workers, turns = 8, 3

// TestWorkersTakeTurns checks that no two workers hold the lock at the same time. It says nothing
// of what that costs the server.
func TestWorkersTakeTurns(t *testing.T) {
	address := os.Getenv("ZK_CONNECT")
	if address == "" {
		t.Skip("ZK_CONNECT is not set")
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	holders := 0
	hold := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		if holders += by; holders > 1 {
			t.Errorf("%d workers hold the lock", holders)
		}
	}
	for range workers {
		all.Go(func() {
			conn, _, err := zk.Connect(strings.Split(address, ","), 10*time.Second, zk.WithLogInfo(false))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			lock := newLock(conn, os.Getenv("LOCK"))
			for range turns {
				if err := lock.Lock(); err != nil {
					t.Error(err)
					return
				}
				hold(+1)
				time.Sleep(20 * time.Millisecond) // the work
				hold(-1)
				if err := lock.Unlock(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
