package library

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
)

// An Election is [concurrency.Election]. Its keys are children of the path, named by the
// lease. A cancelled campaign gives up its place in the line. But if its wait fails for
// another reason, for instance because etcd has compacted the revision that it watches from,
// the library leaves its key in the line and forgets it (v3.7.3, concurrency/election.go:100).
type Election struct {
	session  *Session
	path     string
	election *concurrency.Election // nil unless it leads
	end      context.CancelFunc
}

// Campaign blocks until this session leads. If it fails it removes what the library may have
// left behind.
func (e *Election) Campaign(ctx context.Context) (leading context.Context, err error) {
	election, err := e.campaign(ctx)
	if err != nil {
		return nil, e.session.Failed("campaign", e.path, err)
	}
	e.election = election
	leading, e.end = drivers.Bound(ctx, e.session)
	return leading, nil
}

func (e *Election) campaign(ctx context.Context) (*concurrency.Election, error) {
	if err := e.session.Ready(ctx); err != nil {
		return nil, err
	}
	session, err := e.session.concurrency()
	if err != nil {
		return nil, err
	}
	election := concurrency.NewElection(session, e.session.Keys.Dir(e.path))
	if err := election.Campaign(ctx, ""); err != nil {
		e.session.cleanUp(ctx, e.path)
		return nil, e.session.ended(ctx, err)
	}
	return election, nil
}

// Token returns the revision at which the leader joined the line. Clients lead in the order of
// these revisions.
func (e *Election) Token() int64 {
	if e.election == nil {
		return drivers.NoSeq
	}
	return e.election.Rev()
}

// Resign gives up the leadership. The library forgets its key even if it could not remove it
// (election.go:142), so only the first call has an effect.
func (e *Election) Resign(ctx context.Context) error {
	if e.election == nil {
		return nil
	}
	e.end()
	election := e.election
	e.election = nil
	if err := election.Resign(ctx); err != nil {
		e.session.cleanUp(ctx, e.path)
		return e.session.Failed("resign", e.path, e.session.ended(ctx, err))
	}
	return nil
}
