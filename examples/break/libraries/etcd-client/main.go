// Command etcd-client registers a member and follows a configuration with etcd's client library: a key with a lease that
// the library renews, and a watch. When the lease has ended, it registers with another.
//
//	stampede observe --backend etcd: --env ZK_CONNECT={address} -- etcd-client 15    # seconds
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func main() {
	length, err := time.ParseDuration(strings.Join(os.Args[1:], " ") + "s")
	if err != nil {
		log.Fatal("usage: etcd-client SECONDS")
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(os.Getenv("ZK_CONNECT"), ","), DialTimeout: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	go follow(ctx, client)
	for ctx.Err() == nil {
		if err := register(ctx, client); err != nil && ctx.Err() == nil {
			log.Print(err)
			time.Sleep(time.Second)
		}
	}
}

// register returns when the lease has ended.
func register(ctx context.Context, client *clientv3.Client) error {
	lease, err := client.Grant(ctx, 4)
	if err != nil {
		return err
	}
	if _, err := client.Put(ctx, "/app/members/etcd-client", "", clientv3.WithLease(lease.ID)); err != nil {
		return err
	}
	renewals, err := client.KeepAlive(ctx, lease.ID)
	if err != nil {
		return err
	}
	for range renewals {
	}
	return nil
}

func follow(ctx context.Context, client *clientv3.Client) {
	for range client.Watch(ctx, "/app/config") { // the program would use the data here
	}
}
