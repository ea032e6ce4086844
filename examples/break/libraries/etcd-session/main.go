// Command etcd-session registers a member and stands for election with etcd's package concurrency, whose session holds the
// lease. It follows a configuration. When the session is done, it begins another.
//
//	stampede observe --backend etcd: --env ZK_CONNECT={address} -- etcd-session 15    # seconds
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func main() {
	length, err := time.ParseDuration(strings.Join(os.Args[1:], " ") + "s")
	if err != nil {
		log.Fatal("usage: etcd-session SECONDS")
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
		if err := stand(ctx, client); err != nil && ctx.Err() == nil {
			log.Print(err)
			time.Sleep(time.Second)
		}
	}
}

// stand registers, campaigns, and leads until the session is done.
func stand(ctx context.Context, client *clientv3.Client) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(4))
	if err != nil {
		return err
	}
	defer session.Close()
	if _, err := client.Put(ctx, "/app/members/etcd-session", "", clientv3.WithLease(session.Lease())); err != nil {
		return err
	}
	if err := concurrency.NewElection(session, "/app/leader").Campaign(ctx, "etcd-session"); err != nil {
		return err
	}
	select {
	case <-session.Done():
	case <-ctx.Done():
	}
	return nil
}

func follow(ctx context.Context, client *clientv3.Client) {
	for range client.Watch(ctx, "/app/config") { // the program would use the data here
	}
}
