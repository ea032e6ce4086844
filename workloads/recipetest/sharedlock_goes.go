package recipetest

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

// A wayToGo is a way in which a waiting client leaves the line before its turn.
type wayToGo struct {
	name string
	do   func(context.Context, *lockClient)
}

func waysToGo() []wayToGo {
	return []wayToGo{
		{"gives up", func(ctx context.Context, c *lockClient) { c.giveUp(ctx) }},
		{"loses its session", func(ctx context.Context, c *lockClient) {
			c.x.Helper()
			if err := c.conn.Close(); err != nil {
				c.x.Fatalf("closing a waiter's session: %v", err)
			}
			c.failed(ctx, drivers.ErrSessionLost)
		}},
	}
}

// goes has one client in a line leave before its turn. The others must then hold the lock in
// these groups, one group after the other.
func goes(line string, place int, way func(context.Context, *lockClient), groups ...string) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		clients := x.lineOf(ctx, sides(line))
		way(ctx, clients[place])
		clients = slices.Delete(clients, place, place+1)
		for _, group := range groups {
			x.settle(ctx)
			x.expectNodes(ctx, len(clients))
			x.expectHolders(ctx, clients, clients[:len(group)]...)
			for _, c := range clients[:len(group)] {
				c.release(ctx)
			}
			clients = clients[len(group):]
		}
	}
}
