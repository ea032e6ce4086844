package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-zookeeper/zk"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// The nodes of a follower.
const (
	followed = "/followed"
	follows  = "/follows"
)

// follower is the command follower PROTOCOL ADDRESS HOW. It reads a node, which it creates if it is not there, with a watch,
// and registers itself. When its session has expired, or, with etcd, its connection has broken, it watches again, once: HOW
// is "reads" if it reads the node, too, or "blind". It ends a while later, or when nothing happens for long. With ZooKeeper's
// protocol HOW may be "never": then it comes back in no way, and ends a while after its connection broke.
func follower() {
	run := followZooKeeper
	if os.Args[1] == "etcd" {
		run = followEtcd
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if os.Args[3] == "never" {
		run = neverBack
	}
	if err := run(ctx, os.Args[2], os.Args[3] == "reads"); err != nil {
		fmt.Fprintln(os.Stderr, "follower:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// aWhile is longer than a notification takes.
const aWhile = 1500 * time.Millisecond

func followZooKeeper(ctx context.Context, address string, reads bool) error {
	conn, events, err := zk.Connect([]string{address}, 4*time.Second, zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Create(followed, []byte("v1"), 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if _, _, _, err := conn.GetW(followed); err != nil {
		return err
	}
	if _, err := conn.Create(follows, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		return err
	}
	expired := false
	for {
		select {
		case e := <-events:
			expired = expired || e.State == zk.StateExpired
			if !expired || e.State != zk.StateHasSession {
				continue
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		_, _, _, err := conn.ExistsW(followed)
		if err == nil && reads {
			_, _, err = conn.Get(followed)
		}
		if err == nil {
			_, err = conn.Create(follows, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		}
		time.Sleep(aWhile)
		return err
	}
}

// neverBack watches and registers, and does nothing any more once its connection has broken.
func neverBack(ctx context.Context, address string, _ bool) error {
	once := false
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		if once {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		once = true
		return net.DialTimeout(network, address, timeout)
	}
	conn, events, err := zk.Connect([]string{address}, 4*time.Second, zk.WithLogInfo(false), zk.WithDialer(dial))
	if err != nil {
		return err
	}
	if _, _, _, err := conn.GetW(followed); err != nil {
		return err
	}
	if _, err := conn.Create(follows, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		return err
	}
	for e := range events {
		if e.State == zk.StateDisconnected {
			time.Sleep(aWhile)
			return nil
		}
	}
	return nil
}

// followEtcd speaks to the service without the library's watcher, which resumes watches from where they broke.
func followEtcd(ctx context.Context, address string, reads bool) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(followed), "=", 0)).Then(clientv3.OpPut(followed, "v1")).Commit(); err != nil {
		return err
	}
	stream, err := watchKey(ctx, c)
	if err != nil {
		return err
	}
	lease, err := c.Grant(ctx, 60)
	if err != nil {
		return err
	}
	if _, err := c.Put(ctx, follows, "", clientv3.WithLease(lease.ID)); err != nil {
		return err
	}
	for {
		if _, err := stream.Recv(); err != nil {
			break
		}
	}
	for {
		if _, err = watchKey(ctx, c); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err == nil && reads {
		_, err = c.Get(ctx, followed)
	}
	time.Sleep(aWhile)
	return errors.Join(err, ctx.Err())
}

// watchKey watches the key from now on, and returns when the watch is there.
func watchKey(ctx context.Context, c *clientv3.Client) (pb.Watch_WatchClient, error) {
	stream, err := pb.NewWatchClient(c.ActiveConnection()).Watch(ctx)
	if err != nil {
		return nil, err
	}
	create := &pb.WatchCreateRequest{Key: []byte(followed)}
	if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil {
		return nil, err
	}
	_, err = stream.Recv()
	return stream, err
}
