// Command vitess runs programs on Vitess' topology servers: vitess zk2|etcd2, at the server ADDRESS. Each
// client is a topology server of its own, with its own session: all watch the serving schema, as vtgates
// do, all lock one keyspace in turn, as vtctlds do, and all stand for one election.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"vitess.io/vitess/go/vt/topo"
	_ "vitess.io/vitess/go/vt/topo/etcd2topo"
	_ "vitess.io/vitess/go/vt/topo/zk2topo"
)

var turns, calls atomic.Int64

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	var conns []topo.Conn
	for i := range 6 {
		server, err := topo.OpenServer(os.Args[1], os.Getenv("ADDRESS"), "/vitess/global")
		check(err)
		defer server.Close()
		conn, err := server.ConnForCell(ctx, topo.GlobalCell)
		check(err)
		if i == 0 {
			_, err = conn.Create(ctx, "SrvVSchema", []byte("0"))
			check(err)
			_, err = conn.Create(ctx, "keyspaces/commerce/Keyspace", []byte("commerce"))
			check(err)
		}
		_, changes, err := conn.Watch(ctx, "SrvVSchema")
		check(err)
		go func() {
			for range changes {
				calls.Add(1)
			}
		}()
		conns = append(conns, conn)
	}
	for i := range 12 {
		_, err := conns[0].Update(ctx, "SrvVSchema", []byte(fmt.Sprint(i)), nil)
		check(err)
		time.Sleep(50 * time.Millisecond)
	}
	together(conns, func(c topo.Conn) {
		for range 3 {
			lock, err := c.Lock(ctx, "keyspaces/commerce", "a planned reparent")
			check(err)
			turns.Add(1)
			time.Sleep(20 * time.Millisecond)
			check(lock.Unlock(ctx))
		}
	})
	together(conns, func(c topo.Conn) {
		p, err := c.NewLeaderParticipation("vtorc", fmt.Sprintf("%p", c))
		check(err)
		_, err = p.WaitForLeadership()
		check(err)
		turns.Add(1)
		time.Sleep(20 * time.Millisecond)
		p.Stop()
	})
	fmt.Printf("{\"program_turns\": %d, \"program_calls\": %d}\n", turns.Load(), calls.Load())
}

func together(conns []topo.Conn, work func(c topo.Conn)) {
	var all sync.WaitGroup
	for _, c := range conns {
		all.Add(1)
		go func() {
			defer all.Done()
			work(c)
		}()
	}
	all.Wait()
}
