// Command planted is a program with a known answer: its flags decide whether it comes back after its session ended or its
// connection broke. It registers members, follows a configuration, and runs for 15 seconds:
//
//	stampede observe --env ZK_CONNECT={address} -- planted --register never --watch again --retry step
//
// The documentation of examples/break says what each flag does.
package main

import (
	"context"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/examples/break/plan"
)

func main() {
	os.Exit(plan.Main("planted", func(p plan.Plan) error { return run(p, net.DialTimeout) }))
}

// run opens the sessions, and closes them when the time is over.
func run(p plan.Plan, dial func(network, address string, timeout time.Duration) (net.Conn, error)) error {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), p.For)
	defer cancel()
	var members errgroup.Group
	for i := range p.Sessions {
		m, err := open(ctx, p, i, start, dial)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := m.prepare(); err != nil {
				m.close()
				return err
			}
		}
		members.Go(m.run)
	}
	if err := members.Wait(); err != nil {
		return err
	}
	<-ctx.Done() // also if all members gave up
	return nil
}
