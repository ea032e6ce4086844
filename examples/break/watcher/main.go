// Command watcher is a program with a known answer, as planted is, for etcd: it follows a configuration by a watch of
// clientv3, and its flag says what it does when the service has ended the watch.
//
//	stampede observe --backend etcd: --fault 'at=3s compact-watch clients=all' -- watcher --address {address} --again revision
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const config = "/app/config"

func main() {
	address := pflag.String("address", "", "HOST:PORT of the service, several separated by commas")
	again := pflag.String("again", "revision", "what it does when its watch has ended: `WHAT` is revision (watch from where it was), now (watch from the current revision) or never")
	length := pflag.Duration("for", 8*time.Second, "how long it runs")
	pflag.Parse()
	if err := run(*address, *again, *length); err != nil {
		log.SetFlags(0)
		log.Print(err)
		os.Exit(1)
	}
}

// run follows the configuration until the time is over.
func run(address, again string, length time.Duration) error {
	if again != "revision" && again != "now" && again != "never" {
		return fmt.Errorf("--again %s: want revision, now or never", again)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(address, ","), DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	for next := follow(ctx, client, 0); ctx.Err() == nil && again != "never"; {
		if again == "now" {
			next = 0
		}
		next = follow(ctx, client, next)
	}
	<-ctx.Done()
	return nil
}

// follow watches from a revision on, the current one if it is 0, until the watch has ended. It returns the revision from which
// the next watch has to begin: the one after the last that it has seen, or that of a compaction if earlier ones are lost.
func follow(ctx context.Context, client *clientv3.Client, from int64) (next int64) {
	for r := range client.Watch(ctx, config, clientv3.WithRev(from), clientv3.WithCreatedNotify()) {
		if from = max(from, r.Header.Revision+1); r.CompactRevision > 0 {
			from = r.CompactRevision
		}
	}
	return from
}
