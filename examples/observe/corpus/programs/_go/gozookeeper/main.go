// Command gozookeeper runs programs on go-zookeeper: gozookeeper PROGRAM, at the server ADDRESS. Each
// client is a session of its own. The last line printed has the turns that the program counted.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

var (
	clients []*zk.Conn
	turns   atomic.Int64
	calls   atomic.Int64
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func open(number int) {
	for range number {
		c, events, err := zk.Connect([]string{os.Getenv("ADDRESS")}, 20*time.Second, zk.WithLogger(silent{}))
		check(err)
		for e := range events {
			if e.State == zk.StateHasSession {
				break
			}
		}
		clients = append(clients, c)
	}
	_, err := clients[0].Create("/app", nil, 0, zk.WorldACL(zk.PermAll))
	check(err)
}

func together(work func(c *zk.Conn)) {
	var all sync.WaitGroup
	for _, c := range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			work(c)
		}()
	}
	all.Wait()
}

func lock() {
	open(7)
	together(func(c *zk.Conn) {
		l := zk.NewLock(c, "/app/lock", zk.WorldACL(zk.PermAll))
		for range 4 {
			check(l.Lock())
			turns.Add(1)
			time.Sleep(20 * time.Millisecond)
			check(l.Unlock())
		}
	})
}

// twoLocks has each session use two locks at once, so that it waits in two lines.
func twoLocks() {
	open(6)
	together(func(c *zk.Conn) {
		var both sync.WaitGroup
		for _, path := range []string{"/app/orders", "/app/invoices"} {
			both.Add(1)
			go func() {
				defer both.Done()
				for range 3 {
					l := zk.NewLock(c, path, zk.WorldACL(zk.PermAll))
					check(l.Lock())
					turns.Add(1)
					time.Sleep(20 * time.Millisecond)
					check(l.Unlock())
				}
			}()
		}
		both.Wait()
	})
}

// settings has all sessions watch a value that two administrators set.
func settings() {
	open(7)
	_, err := clients[0].Create("/app/settings", []byte("0"), 0, zk.WorldACL(zk.PermAll))
	check(err)
	for _, c := range clients {
		_, _, changed, err := c.GetW("/app/settings")
		check(err)
		go func() {
			for {
				if e := <-changed; e.Err != nil {
					return
				}
				calls.Add(1)
				if _, _, changed, err = c.GetW("/app/settings"); err != nil {
					return
				}
			}
		}()
	}
	for i := range 20 {
		_, err := clients[i%2].Set("/app/settings", []byte(strconv.Itoa(i)), -1)
		check(err)
		time.Sleep(60 * time.Millisecond)
	}
}

func main() {
	programs := map[string]func(){"lock": lock, "two-locks": twoLocks, "settings": settings}
	programs[os.Args[1]]()
	for _, c := range clients {
		c.Close()
	}
	fmt.Printf("{\"program_turns\": %d, \"program_calls\": %d}\n", turns.Load(), calls.Load())
}
