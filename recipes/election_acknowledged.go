package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// An AcknowledgedElection is an [Election] whose leader announces that it
// leads. A client without a predecessor does not necessarily know yet that it
// leads, so the leader creates one more ephemeral node, leader, once it has run
// its leader procedure. It deletes that node before it resigns, and a lost
// session removes both nodes, so the node leader never exists beside a leader
// that has not acknowledged.
// Cost: N clients, each leads once: N−1 notifications, 3N−2 reads, 4N writes; a
// leader that resigns wakes 1.
type AcknowledgedElection struct {
	Election
	leader *protected.Claim
}

// NewAcknowledgedElection returns the election at dir, an existing node.
func NewAcknowledgedElection(conn drivers.Conn, dir string) *AcknowledgedElection {
	return &AcknowledgedElection{
		Election: *NewElection(conn, dir),
		leader:   protected.NewSingleNode(conn, path.Join(dir, "leader")),
	}
}

// Acknowledge creates the node leader, which announces that this client leads.
// Call it after Campaign, when the leader procedure has run. If Acknowledge
// fails, this client has resigned.
func (e *AcknowledgedElection) Acknowledge(ctx context.Context) error {
	// 1. Create the node leader.
	err := e.leader.Create(ctx)
	if err == nil {
		return nil
	}
	e.end()
	return fmt.Errorf("acknowledge in %s: %w", e.dir,
		errors.Join(err, e.leader.Abandon(ctx), e.node.Abandon(ctx)))
}

// Resign is like [Election.Resign].
func (e *AcknowledgedElection) Resign(ctx context.Context) error {
	e.end()
	// 2. Delete the node leader, then resign.
	if err := e.leader.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return e.Election.Resign(ctx)
}
