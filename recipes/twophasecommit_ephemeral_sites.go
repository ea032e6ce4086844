package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// An EphemeralTransaction is a [Transaction] whose sites create their own
// nodes, as ephemeral nodes. If a site dies before it has voted, the
// coordinator notices and aborts. A vote that the coordinator has read stands.
// Cost: N sites that vote to commit, and the coordinator, if all have joined
// before it asks: 2N notifications, 4N reads, 2N+1 writes; the decision wakes
// N.
type EphemeralTransaction struct {
	*Transaction
	node *protected.Claim
}

// NewEphemeralTransaction returns the part of the site mine, one of sites, in
// the transaction at dir, an existing node.
func NewEphemeralTransaction(conn drivers.Conn, dir string, sites []string, mine string) EphemeralTransaction {
	return EphemeralTransaction{NewTransaction(conn, dir, sites, mine), protected.NewSingleNode(conn, path.Join(dir, mine))}
}

// Join creates the site's node and starts to follow the transaction. If Join
// fails, it removes the node.
func (t EphemeralTransaction) Join(ctx context.Context) error {
	err := t.node.Create(ctx)
	if err == nil {
		err = t.Transaction.Join(ctx)
	}
	if err != nil {
		return fmt.Errorf("join transaction %s: %w", t.path, errors.Join(err, t.node.Abandon(ctx)))
	}
	return nil
}

// Vote is like [Transaction.Vote], but if it fails, it removes the site's node:
// the site counts as dead, and the transaction does not wait for it.
func (t EphemeralTransaction) Vote(ctx context.Context, commit bool) error {
	if err := t.Transaction.Vote(ctx, commit); err != nil {
		return errors.Join(err, t.node.Abandon(ctx))
	}
	return nil
}
