package zookeeper

import (
	"context"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// Serves returns when a member that [RunMember] runs accepts sessions, which requires that its
// ensemble has a leader and that the member has found it. The member must keep its data in
// p.Dir, which another server on the same port would not.
func Serves(ctx context.Context, p cluster.Place) error {
	e, err := ensemble.New(Config{Servers: []string{p.Own().Clients}})
	if err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !keepsDataIn(ctx, e, p.Dir) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// keepsDataIn reports whether the server keeps its data in dir. Its timeout is short: a server
// that is starting never answers some of the words that arrive just then, but answers later
// ones.
func keepsDataIn(ctx context.Context, e *ensemble.Ensemble, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	conf, err := e.Word(ctx, e.Servers[0], "conf")
	return err == nil && strings.Contains(conf, "dataDir="+dir)
}
