package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// Claim claims a name for the process mine. Of several processes that claim a name, the first gets it: Claim returns true
// to that one, and false to the others.
func (p *Plane) Claim(ctx context.Context, name, mine string) (bool, error) {
	err := p.create(ctx, claims+"/"+name, []byte(mine), 0)
	if !errors.Is(err, drivers.ErrNodeExists) {
		return err == nil, claimError(name, err)
	}
	owner, _, err := p.conn.Get(ctx, claims+"/"+name, nil) // it may be this process, by an attempt whose answer was lost
	return err == nil && string(owner) == mine, claimError(name, err)
}

// AwaitClaim returns when a process has claimed the name.
func (p *Plane) AwaitClaim(ctx context.Context, name string) error {
	_, err := p.await(ctx, claims+"/"+name)
	return claimError(name, err)
}

func claimError(name string, err error) error {
	if err != nil {
		return fmt.Errorf("claim %s on the control plane: %w", name, err)
	}
	return nil
}
