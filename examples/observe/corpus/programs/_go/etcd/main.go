// Command etcd runs programs on the client library of etcd: etcd PROGRAM, at the server ADDRESS. Each client
// is a session with a connection of its own. The last line printed has the turns that the program counted.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.etcd.io/etcd/client/v3/naming/endpoints"
	"go.etcd.io/etcd/client/v3/naming/resolver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var (
	clients  []*clientv3.Client
	sessions []*concurrency.Session
	turns    atomic.Int64
	ctx      = context.Background()
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func open(number int) {
	for range number {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Getenv("ADDRESS")}})
		check(err)
		clients = append(clients, c)
		s, err := concurrency.NewSession(c, concurrency.WithTTL(60))
		check(err)
		sessions = append(sessions, s)
	}
}

// together runs work for all clients from the given one on, and waits for all.
func together(from int, work func(i int)) {
	var all sync.WaitGroup
	for i := from; i < len(clients); i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			work(i)
		}()
	}
	all.Wait()
}

func turn() {
	turns.Add(1)
	time.Sleep(20 * time.Millisecond)
}

// renew gives a client a new session: recipes name keys after it, and older keys may still be watched.
func renew(i int) {
	s, err := concurrency.NewSession(clients[i], concurrency.WithTTL(60))
	check(err)
	sessions[i] = s
}

func mutex() {
	open(7)
	together(0, func(i int) {
		for range 4 {
			m := concurrency.NewMutex(sessions[i], "/app/mutex")
			check(m.Lock(ctx))
			turn()
			check(m.Unlock(ctx))
			renew(i)
		}
	})
}

func election() {
	open(6)
	together(0, func(i int) {
		for range 4 {
			e := concurrency.NewElection(sessions[i], "/app/election")
			check(e.Campaign(ctx, strconv.Itoa(i)))
			turn()
			check(e.Resign(ctx))
			renew(i)
		}
	})
}

// observedElection has four clients that only want to know who leads, by Election.Observe.
func observedElection() {
	open(8)
	stopped, stop := context.WithCancel(ctx)
	for i := 4; i < 8; i++ {
		seen := concurrency.NewElection(sessions[i], "/app/leader").Observe(stopped)
		go func() {
			for range seen {
			}
		}()
	}
	together(0, func(i int) {
		for round := 0; i < 4 && round < 5; round++ {
			e := concurrency.NewElection(sessions[i], "/app/leader")
			check(e.Campaign(ctx, strconv.Itoa(i)))
			turns.Add(1)
			time.Sleep(60 * time.Millisecond)
			check(e.Resign(ctx))
			renew(i)
		}
	})
	time.Sleep(300 * time.Millisecond)
	stop()
}

// take has consumers that dequeue until each has had an end, and puts each value when the last is taken.
func take(dequeue func(i int) (string, error), enqueue func(value string) error) {
	go func() {
		for i := range 20 + len(clients) - 1 {
			time.Sleep(150 * time.Millisecond)
			value := "end"
			if i < 20 {
				value = "item " + strconv.Itoa(i)
			}
			check(enqueue(value))
		}
	}()
	together(1, func(i int) {
		for {
			value, err := dequeue(i)
			check(err)
			if value == "end" {
				return
			}
			turns.Add(1)
		}
	})
}

func queue() {
	open(7)
	queues := make([]*recipe.Queue, len(clients))
	for i, c := range clients {
		queues[i] = recipe.NewQueue(c, "/app/queue")
	}
	take(func(i int) (string, error) { return queues[i].Dequeue() }, queues[0].Enqueue)
}

func priorityQueue() {
	open(6)
	queues := make([]*recipe.PriorityQueue, len(clients))
	for i, c := range clients {
		queues[i] = recipe.NewPriorityQueue(c, "/app/priority")
	}
	n := 0
	take(func(i int) (string, error) { return queues[i].Dequeue() }, func(value string) error {
		n++
		return queues[0].Enqueue(value, uint16(n%3))
	})
}

func barrier() {
	open(7)
	for round := range 20 {
		key := "/app/barrier/" + strconv.Itoa(round)
		check(recipe.NewBarrier(clients[0], key).Hold())
		go func() {
			time.Sleep(80 * time.Millisecond)
			check(recipe.NewBarrier(clients[0], key).Release())
		}()
		together(1, func(i int) {
			check(recipe.NewBarrier(clients[i], key).Wait())
			turns.Add(1)
		})
	}
}

func doubleBarrier() {
	open(6)
	for round := range 8 {
		together(0, func(i int) {
			b := recipe.NewDoubleBarrier(sessions[i], "/app/double/"+strconv.Itoa(round), len(clients))
			check(b.Enter())
			turns.Add(1)
			check(b.Leave())
		})
	}
}

func rwMutex() {
	open(8)
	together(0, func(i int) {
		for range 4 {
			m := recipe.NewRWMutex(sessions[i], "/app/rw")
			if i < 3 {
				check(m.Lock())
				turn()
				check(m.Unlock())
			} else {
				check(m.RLock())
				turn()
				check(m.RUnlock())
			}
			renew(i)
		}
	})
}

// naming has gRPC clients that resolve a service by etcd's naming resolver, while its endpoints come and go.
func naming() {
	open(6)
	for i := 1; i < len(clients); i++ {
		b, err := resolver.NewBuilder(clients[i])
		check(err)
		conn, err := grpc.NewClient("etcd:///app/search", grpc.WithResolvers(b),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(err)
		conn.Connect()
		defer conn.Close()
	}
	time.Sleep(500 * time.Millisecond)
	manager, err := endpoints.NewManager(clients[0], "app/search")
	check(err)
	for i := range 12 {
		key := fmt.Sprintf("app/search/node-%d", i)
		check(manager.AddEndpoint(ctx, key, endpoints.Endpoint{Addr: fmt.Sprintf("127.0.0.1:%d", 9+i)}))
		time.Sleep(80 * time.Millisecond)
		check(manager.DeleteEndpoint(ctx, key))
		time.Sleep(80 * time.Millisecond)
	}
}

// watched counts the answers of a watch.
func watched(i int, key string, options ...clientv3.OpOption) {
	events := clients[i].Watch(ctx, key, options...)
	go func() {
		for range events {
		}
	}()
}

// mixture has sessions that take a mutex, watch a configuration, and are members of a group that all watch.
func mixture() {
	open(6)
	for i := range clients {
		watched(i, "/app/config/", clientv3.WithPrefix())
		watched(i, "/app/members/", clientv3.WithPrefix())
	}
	time.Sleep(300 * time.Millisecond)
	together(0, func(i int) {
		for round := range 4 {
			me := fmt.Sprintf("/app/members/%d", i)
			_, err := clients[i].Put(ctx, me, "waits", clientv3.WithLease(sessions[i].Lease()))
			check(err)
			m := concurrency.NewMutex(sessions[i], "/app/lock")
			check(m.Lock(ctx))
			turn()
			if round == i%4 {
				_, err = clients[i].Put(ctx, "/app/config/owner", me)
				check(err)
			}
			check(m.Unlock(ctx))
			_, err = clients[i].Delete(ctx, me)
			check(err)
			renew(i)
		}
	})
	time.Sleep(300 * time.Millisecond)
}

// raceForKey is a lock of which all wait for one key to go, and all that wait try to create it.
func raceForKey() {
	open(6)
	together(0, func(i int) {
		for range 4 {
			for {
				free := clientv3.Compare(clientv3.CreateRevision("/app/leader"), "=", 0)
				r, err := clients[i].Txn(ctx).If(free).
					Then(clientv3.OpPut("/app/leader", strconv.Itoa(i), clientv3.WithLease(sessions[i].Lease()))).Commit()
				check(err)
				if r.Succeeded {
					break
				}
				waiting, stop := context.WithCancel(ctx)
				gone := clients[i].Watch(waiting, "/app/leader", clientv3.WithRev(r.Header.Revision+1))
				for response := range gone {
					if len(response.Events) > 0 && response.Events[0].Type == clientv3.EventTypeDelete {
						break
					}
				}
				stop()
			}
			turn()
			_, err := clients[i].Delete(ctx, "/app/leader")
			check(err)
		}
	})
}

func main() {
	programs := map[string]func(){"mutex": mutex, "election": election, "observed-election": observedElection,
		"queue": queue, "priority-queue": priorityQueue, "barrier": barrier, "double-barrier": doubleBarrier,
		"rw-mutex": rwMutex, "naming": naming, "mixture": mixture, "race-for-key": raceForKey}
	programs[os.Args[1]]()
	for _, c := range clients {
		check(c.Close())
	}
	fmt.Printf("{\"program_turns\": %d}\n", turns.Load())
}
