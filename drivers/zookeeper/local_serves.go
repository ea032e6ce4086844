package zookeeper

import (
	"context"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// Serves returns when a member that [RunMember] runs accepts sessions.
func Serves(ctx context.Context, p cluster.Place) error {
	return ensemble.Serves(ctx, Config{Servers: []string{p.Own().Clients}}, p.Dir)
}
