package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// sessions measures the memory that many sessions use in each server and in their client, which
// is a process of its own, and the notifications per release of a lock for which all of them
// wait.
func sessions(ctx context.Context, b *bench) ([]row, error) {
	var found [2]sessionCosts
	for i, k := range kinds() {
		s, err := b.start(ctx, k)
		if err != nil {
			return nil, err
		}
		if found[i], err = b.sessionCosts(ctx, s); err != nil {
			return nil, err
		}
		if err := b.stop(); err != nil {
			return nil, err
		}
	}
	many := whole(float64(b.sessions))
	return []row{
		{many + " sessions: the server's memory", once(found[0].Server, found[1].Server), mebibytes, leftBelow(200, "MiB"), ofServers},
		{many + " sessions: the client's memory", once(found[0].Client, found[1].Client), mebibytes, leftBelow(250, "MiB"), ofServers},
		{"notifications per release of a lock they wait for", once(found[0].Notifications, found[1].Notifications), count, exactly(1), ofServers},
	}, nil
}

// sessionCosts runs the sessions of a server in a client process and returns its results.
func (b *bench) sessionCosts(ctx context.Context, s *server) (found sessionCosts, err error) {
	client, err := reexec.Start(ctx, sessionsRole, s.addr, strconv.Itoa(s.pid),
		strconv.Itoa(b.sessions), strconv.Itoa(b.releases), b.quiet.String())
	if err != nil {
		return sessionCosts{}, err
	}
	if err := json.Unmarshal([]byte(client.Addr()), &found); err != nil {
		return sessionCosts{}, err
	}
	return found, client.Stop()
}
