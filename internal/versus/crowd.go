package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/lean"
)

// crowded is what many sessions were found to take: memory in MiB, when they only
// keep themselves alive, and notifications for each release of a lock.
type crowded struct{ Server, Client, Notifications float64 }

// crowd is the role of the process that has the sessions: with a server's
// address and process id, how many there are, how often the lock is released, and
// for how long they are quiet first. It serves nobody, and announces what it
// found.
func crowd(ctx context.Context, args []string, ready func(string)) error {
	pid, sessions, releases := number(args[1]), number(args[2]), number(args[3])
	quiet, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	s, err := lean.New(lean.Config{Servers: args[:1]})
	if err != nil {
		return err
	}
	q := newWaiting(sessions)
	conns, err := dial(ctx, s, sessions, drivers.Options{Probe: q})
	if err != nil {
		return err
	}
	if err := drivers.Pause(ctx, quiet); err != nil {
		return err
	}
	var found crowded
	if found.Server, err = resident(pid); err != nil {
		return err
	}
	if found.Client, err = resident(os.Getpid()); err != nil {
		return err
	}
	if found.Notifications, err = q.handOver(ctx, conns, releases); err != nil {
		return err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	ready(string(text))
	return nil // and leaves the sessions to expire
}

// number is an argument that this program wrote itself.
func number(arg string) int {
	n, err := strconv.Atoi(arg)
	if err != nil {
		panic(err)
	}
	return n
}
