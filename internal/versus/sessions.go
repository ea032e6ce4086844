package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/stampede-bench/stampede/drivers/child"
)

// sessions measures the memory that many sessions use in each server and in their client, which
// is a process of its own, and the notifications per release of a lock for which all of them
// wait.
func sessions(ctx context.Context, b *bench) ([]row, error) {
	var found [2]crowded
	for i, k := range kinds() {
		s, err := b.start(ctx, k)
		if err != nil {
			return nil, err
		}
		if found[i], err = b.crowd(ctx, s); err != nil {
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
		{"notifications a release of a lock they wait for", once(found[0].Notifications, found[1].Notifications), count, exactly(1), ofServers},
	}, nil
}

// crowd runs the sessions of a server in a client process and returns its results.
func (b *bench) crowd(ctx context.Context, s *server) (found crowded, err error) {
	client, err := child.Start(ctx, "crowd", s.addr, strconv.Itoa(s.pid),
		strconv.Itoa(b.sessions), strconv.Itoa(b.releases), b.quiet.String())
	if err != nil {
		return crowded{}, err
	}
	if err := json.Unmarshal([]byte(client.Addr()), &found); err != nil {
		return crowded{}, err
	}
	return found, client.Stop()
}
