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

// sessionCosts holds the costs of many sessions: the memory in MiB while they only send
// heartbeats, and the notifications per release of a lock.
type sessionCosts struct{ Server, Client, Notifications float64 }

// holdSessions is the role of the process that holds the sessions. Its arguments are the server's
// address and process id, the number of sessions, the number of releases of the lock, and the
// time without load before the memory is measured. It does not serve; it passes its results to
// ready.
func holdSessions(ctx context.Context, args []string, ready func(string)) error {
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
	var found sessionCosts
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
	return nil // the sessions are left to expire
}

// number parses an argument that this program wrote itself.
func number(arg string) int {
	n, err := strconv.Atoi(arg)
	if err != nil {
		panic(err)
	}
	return n
}
