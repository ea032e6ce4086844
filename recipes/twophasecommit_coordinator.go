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
// only one who watches them. One Coordinator serves one goroutine.
type Coordinator struct {
	conn  drivers.Conn
	path  string
	sites []string
	votes map[string]string // by node, of those that have voted
	news  drivers.Feed
}

// NewCoordinator returns the coordinator of the transaction at path, a node that
// is there already, among these sites. A site may have a node from the beginning
// or make it when it joins.
func NewCoordinator(conn drivers.Conn, path string, sites []string) *Coordinator {
	return &Coordinator{conn: drivers.Steady(conn), path: path, sites: sites, votes: make(map[string]string)}
}

// Coordinate decides and tells all sites. A coordinator that gives up because
// its context ends aborts, so that no site waits for it; one that has lost its
// session leaves it to another one to begin again.
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

// collect returns when all have voted to commit, or one to abort.
func (c *Coordinator) collect(ctx context.Context) (commit bool, err error) {
	// 1. Read each site's vote, with a watch.
	for _, site := range c.sites {
		if err := c.ask(ctx, path.Join(c.path, site)); err != nil {
			return false, err
		}
	}
	for {
		// 2. One vote to abort is enough; to commit takes all.
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
			err = errors.Join(err, c.hear(ctx, e))
		}
		if err != nil {
			return false, err
		}
	}
}

// ask reads a site's vote, with a watch. Where there is no node the site has not
// joined yet, and the watch is for that.
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
		return nil // it has joined and died: the watch tells
	}
	return err
}

// hear reads what a watch has told of. A site whose node is gone, or says
// something else than a vote, has died, and nobody has read its vote: it aborts.
func (c *Coordinator) hear(ctx context.Context, e drivers.Event) error {
	if c.votes[e.Path] != "" {
		return nil // it has voted, and its vote stands
	}
	var err error
	switch e.Type {
	case drivers.Created:
		if err = c.read(ctx, e.Path, c.news.Fire); err == nil {
			return nil // it has joined
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

// read takes down what a node says, if it is a vote.
func (c *Coordinator) read(ctx context.Context, node string, w drivers.Watch) error {
	data, _, err := c.conn.Get(ctx, node, w)
	if vote := string(data); vote == "commit" || vote == "abort" {
		c.votes[node] = vote
	}
	return err
}

// publish writes the decision to the transaction's node, and returns the one that
// stands: an earlier one, whose reply was lost or whose coordinator was, is not
// changed.
func (c *Coordinator) publish(ctx context.Context, commit bool) (bool, error) {
	decision := "abort"
	if commit {
		decision = "commit"
	}
	err := drivers.Repeat(func() error {
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

// abort decides for somebody whose context has ended.
func (c *Coordinator) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drivers.DefaultSessionTimeout)
	defer cancel()
	_, err := c.publish(ctx, false)
	if errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}
