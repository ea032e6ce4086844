package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A Transaction is one site's part in a two-phase commit: all sites commit if
// all vote to commit, and otherwise all abort. Each site votes in its own node,
// and all sites watch all votes, so a vote wakes all of them. One Transaction
// serves one goroutine.
// Cost: N sites that vote to commit: N² notifications, 2N² reads, N writes; a
// vote wakes N.
type Transaction struct {
	conn   drivers.Conn
	path   string
	sites  []string
	mine   string
	values map[string]string // of nodes: "", "commit" or "abort"
	news   drivers.Feed
}

// NewTransaction returns the part of the site mine, one of sites, in the
// transaction at path. The node at path must exist, with an empty child for
// each site, and none of these nodes may have been written to since it was
// created.
func NewTransaction(conn drivers.Conn, path string, sites []string, mine string) *Transaction {
	return &Transaction{conn: drivers.Steady(conn), path: path, sites: sites, mine: mine, values: make(map[string]string)}
}

// Join starts to follow the transaction.
func (t *Transaction) Join(ctx context.Context) error {
	// 1. Get each site's vote, with a watch.
	for _, site := range t.sites {
		if err := t.read(ctx, path.Join(t.path, site), t.news.Fire); err != nil {
			return fmt.Errorf("join transaction %s: %w", t.path, err)
		}
	}
	return nil
}

// Vote casts this site's vote, unless the transaction is decided already. The
// first vote of a site stands. If Vote fails, the vote may or may not stand. A
// site that gives up then must vote to abort, with another context, or it keeps
// the others waiting.
func (t *Transaction) Vote(ctx context.Context, commit bool) error {
	if _, decided := t.publishedDecision(); decided {
		return nil
	}
	vote := "abort"
	if commit {
		vote = "commit"
	}
	// 2. Write the vote to this site's own node.
	err := drivers.Repeat(ctx, func() error {
		_, err := t.conn.Set(ctx, path.Join(t.path, t.mine), []byte(vote), 0)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrBadVersion) {
		return fmt.Errorf("vote in transaction %s: %w", t.path, err)
	}
	return nil
}

// Decision waits until the transaction is decided and reports whether all sites
// commit or all abort.
func (t *Transaction) Decision(ctx context.Context) (commit bool, err error) {
	for {
		// 3. Until the transaction is decided, wait for watches to fire and get
		// the nodes that have changed.
		if commit, decided := t.publishedDecision(); decided {
			return commit, nil
		}
		events, err := t.news.Await(ctx)
		for _, e := range events {
			err = errors.Join(err, t.read(ctx, e.Path, nil))
		}
		if err != nil {
			return false, fmt.Errorf("decide transaction %s: %w", t.path, err)
		}
	}
}

// publishedDecision derives the decision from the votes, if they are sufficient.
func (t *Transaction) publishedDecision() (commit, decided bool) {
	commit = true
	for _, site := range t.sites {
		switch t.values[path.Join(t.path, site)] {
		case "abort":
			return false, true
		case "":
			commit = false
		}
	}
	return commit, commit
}

// read gets a node and records its data.
func (t *Transaction) read(ctx context.Context, node string, w drivers.Watch) error {
	data, _, err := t.conn.Get(ctx, node, w)
	t.values[node] = string(data)
	return err
}
