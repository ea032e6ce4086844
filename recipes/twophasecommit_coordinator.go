package recipes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A Coordinator collects the votes of a two-phase commit and decides. It is the
// only client that watches the votes. One Coordinator serves one goroutine.
type Coordinator struct {
	conn  drivers.Conn
	path  string
	sites []string
	votes map[string]string // by node; only of sites that have voted
	news  drivers.Feed
}

// NewCoordinator returns the coordinator of the transaction at path, an
// existing node, among sites. The node of a site may exist from the beginning,
// or the site may create it when it joins.
func NewCoordinator(conn drivers.Conn, path string, sites []string) *Coordinator {
	return &Coordinator{conn: drivers.Steady(conn), path: path, sites: sites, votes: make(map[string]string)}
}

// Coordinate decides and publishes the decision to all sites. If its context
// ends, it decides to abort, so that no site waits for it. If its session is
// lost, another coordinator has to start again.
func (c *Coordinator) Coordinate(ctx context.Context) (commit bool, err error) {
	commit, err = c.collect(ctx)
	if err == nil {
		commit, err = c.publish(ctx, commit)
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, c.abort(ctx))
	}
	if err != nil {
		return false, fmt.Errorf("coordinate transaction %s: %w", c.path, err)
	}
	return commit, nil
}

// collect returns when all sites have voted to commit, or one has voted to
// abort.
func (c *Coordinator) collect(ctx context.Context) (commit bool, err error) {
	// 1. Get each site's vote, with a watch.
	for _, site := range c.sites {
		if err := c.ask(ctx, path.Join(c.path, site)); err != nil {
			return false, err
		}
	}
	for {
		// 2. One vote to abort is enough to abort. To commit takes the votes of
		// all sites.
		commit := 0
		for _, vote := range c.votes {
			if vote == "abort" {
				return false, nil
			}
			commit++
		}
		if commit == len(c.sites) {
			return true, nil
		}
		// 3. Wait for the next votes.
		events, err := c.news.Await(ctx)
		for _, e := range events {
			err = errors.Join(err, c.handle(ctx, e))
		}
		if err != nil {
			return false, err
		}
	}
}

// ask gets a site's vote, with a watch. If the node does not exist, the site
// has not joined yet, and the watch is for the node's creation.
func (c *Coordinator) ask(ctx context.Context, node string) error {
	err := c.read(ctx, node, c.news.Fire)
	if !errors.Is(err, drivers.ErrNoNode) {
		return err
	}
	_, joined, err := c.conn.Exists(ctx, node, c.news.Fire)
	if err == nil && joined {
		err = c.read(ctx, node, nil)
	}
	if errors.Is(err, drivers.ErrNoNode) {
		return nil // the site has joined and died: the watch reports it
	}
	return err
}

// handle handles an event of a site's node. If the node does not exist any more,
// or its data is not a vote, the site has died before the coordinator has read
// its vote. That counts as a vote to abort.
func (c *Coordinator) handle(ctx context.Context, e drivers.Event) error {
	if c.votes[e.Path] != "" {
		return nil // the site has voted, and its vote stands
	}
	var err error
	switch e.Type {
	case drivers.Created:
		if err = c.read(ctx, e.Path, c.news.Fire); err == nil {
			return nil // the site has joined
		}
	case drivers.DataChanged:
		err = c.read(ctx, e.Path, nil)
	}
	if err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return err
	}
	c.votes[e.Path] = cmp.Or(c.votes[e.Path], "abort")
	return nil
}

// read gets a node and records its data, if that is a vote.
func (c *Coordinator) read(ctx context.Context, node string, w drivers.Watch) error {
	data, _, err := c.conn.Get(ctx, node, w)
	if vote := string(data); vote == "commit" || vote == "abort" {
		c.votes[node] = vote
	}
	return err
}

// publish writes the decision to the transaction's node and returns the
// decision that stands. It does not change an earlier one, which another
// coordinator has written, or this one if the reply was lost.
func (c *Coordinator) publish(ctx context.Context, commit bool) (bool, error) {
	decision := "abort"
	if commit {
		decision = "commit"
	}
	err := drivers.Repeat(ctx, func() error {
		_, err := c.conn.Set(ctx, c.path, []byte(decision), 0)
		return err
	})
	if errors.Is(err, drivers.ErrBadVersion) {
		var stands []byte
		stands, _, err = c.conn.Get(ctx, c.path, nil)
		decision = string(stands)
	}
	return decision == "commit", err
}

// abort publishes the decision to abort for a coordinator whose context has
// ended.
func (c *Coordinator) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drivers.DefaultSessionTimeout)
	defer cancel()
	_, err := c.publish(ctx, false)
	if errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}
