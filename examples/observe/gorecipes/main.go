// Command gorecipes lets clients use the lock of go-zookeeper, or the mutex or the election of
// etcd's package concurrency, 3 turns each unless a number is given:
//
//	stampede observe --env ZK_CONNECT={address} -- gorecipes zookeeper-lock 8
//	stampede observe --backend etcd: --env ZK_CONNECT={address} -- gorecipes etcd-mutex 8 2
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"
)

// A turnTaker is one client of a recipe in which one client at a time can proceed.
type turnTaker interface {
	acquire() error
	release() error
	close() error
}

// recipes connect one client to the server at the address. Each client calls waits when it has
// nothing to do until the server notifies it.
var recipes = map[string]func(address string, waits func()) (turnTaker, error){
	"zookeeper-lock": newZooKeeperLock,
	"etcd-mutex":     newEtcdMutex,
	"etcd-election":  newEtcdElection,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	numbers := []int{8, 3} // clients, turns
	if len(args) == 0 || len(args) > 1+len(numbers) || recipes[args[0]] == nil {
		return fmt.Errorf("invalid arguments %q: want zookeeper-lock, etcd-mutex or etcd-election, the number of clients, and that of turns", args)
	}
	for i, arg := range args[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid number %q: must be at least 1", arg)
		}
		numbers[i] = n
	}
	return takeTurns(recipes[args[0]], os.Getenv("ZK_CONNECT"), numbers[0], numbers[1])
}

// takeTurns connects all clients, then lets each take its turns, and ends all when all have finished.
func takeTurns(connect func(string, func()) (turnTaker, error), address string, clients, turns int) error {
	all := newLine(clients)
	takers := make([]turnTaker, clients)
	for i := range takers {
		taker, err := connect(address, func() { all.set(i, waiting) })
		if err != nil {
			return err
		}
		defer taker.close()
		takers[i] = taker
	}
	var running errgroup.Group
	for i, taker := range takers {
		running.Go(func() error {
			defer all.set(i, finished)
			if i > 0 {
				all.awaitFirst()
			}
			for range turns {
				if err := taker.acquire(); err != nil {
					return err
				}
				all.set(i, holding)
				all.awaitOthers()
				all.set(i, arriving)
				if err := taker.release(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return running.Wait()
}

// A state is what a client does.
type state int

const (
	arriving state = iota
	waiting
	holding
	finished
)

// A line knows the state of each client. It lets a holder work until all other clients wait or
// have finished, so that one change is made at a time and the counts are the same in each run.
type line struct {
	mu      sync.Mutex
	changed *sync.Cond
	states  []state
}

func newLine(clients int) *line {
	l := &line{states: make([]state, clients)}
	l.changed = sync.NewCond(&l.mu)
	return l
}

func (l *line) set(client int, to state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[client] = to
	l.changed.Broadcast()
}

// awaitOthers returns when no client is arriving.
func (l *line) awaitOthers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for slices.Contains(l.states, arriving) {
		l.changed.Wait()
	}
}

// awaitFirst returns when the first client has arrived, and so has created what all share.
func (l *line) awaitFirst() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.states[0] == arriving {
		l.changed.Wait()
	}
}
