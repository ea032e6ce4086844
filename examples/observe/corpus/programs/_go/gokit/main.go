// Command gokit has consumers of Go kit's discovery on ZooKeeper or etcd: gokit zookeeper|etcd, at the server
// ADDRESS. Five consumers hold an Instancer, and the instances are registered by other sessions.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-kit/kit/sd"
	"github.com/go-kit/kit/sd/etcdv3"
	"github.com/go-kit/kit/sd/zk"
	"github.com/go-kit/log"
)

var calls atomic.Int64

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// listen counts what an instancer tells.
func listen(i interface{ Register(chan<- sd.Event) }) {
	events := make(chan sd.Event, 100)
	i.Register(events)
	go func() {
		for range events {
			calls.Add(1)
		}
	}()
}

func newClient() zk.Client {
	servers := []string{os.Getenv("ADDRESS")}
	c, err := zk.NewClient(servers, log.NewNopLogger(), zk.SessionTimeout(20*time.Second))
	check(err)
	return c
}

func onZooKeeper() {
	var clients []zk.Client
	for range 5 {
		c := newClient()
		clients = append(clients, c)
	}
	for _, c := range clients {
		instancer, err := zk.NewInstancer(c, "/services/search", log.NewNopLogger())
		check(err)
		listen(instancer)
	}
	for i := range 10 { // Deregister deletes the service's folder, so an instance ends with its session
		c := newClient()
		s := zk.Service{Path: "/services", Name: "search", Data: fmt.Appendf(nil, "127.0.0.1:%d", 9+i)}
		check(c.Register(&s))
		time.Sleep(100 * time.Millisecond)
		c.Stop()
		time.Sleep(100 * time.Millisecond)
	}
	for _, c := range clients {
		c.Stop()
	}
}

func onEtcd() {
	ctx, stop := context.WithCancel(context.Background())
	var clients []etcdv3.Client
	for range 7 {
		c, err := etcdv3.NewClient(ctx, []string{os.Getenv("ADDRESS")}, etcdv3.ClientOptions{})
		check(err)
		clients = append(clients, c)
	}
	for _, c := range clients[2:] {
		instancer, err := etcdv3.NewInstancer(c, "/services/search/", log.NewNopLogger())
		check(err)
		listen(instancer)
	}
	time.Sleep(300 * time.Millisecond)
	for i := range 10 {
		s := etcdv3.Service{Key: fmt.Sprintf("/services/search/%d", i), Value: fmt.Sprintf("127.0.0.1:%d", 9+i)}
		check(clients[i%2].Register(s))
		time.Sleep(100 * time.Millisecond)
		check(clients[i%2].Deregister(s))
		time.Sleep(100 * time.Millisecond)
	}
	stop()
}

func main() {
	map[string]func(){"zookeeper": onZooKeeper, "etcd": onEtcd}[os.Args[1]]()
	fmt.Printf("{\"program_calls\": %d}\n", calls.Load())
}
