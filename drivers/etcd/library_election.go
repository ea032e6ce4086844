package etcd

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
)

// A libraryElection is [concurrency.Election]. Its keys are children of the path, named by the
// lease. A cancelled campaign gives up its place in the line. But if its wait fails for
// another reason, for instance because etcd has compacted the revision that it watches from,
// the library leaves its key in the line and forgets it (v3.7.3, concurrency/election.go:100).
type libraryElection struct {
	conn     *Conn
	path     string
	election *concurrency.Election // nil unless it leads
	end      context.CancelFunc
}

func (c *Conn) libraryElection(path string) *libraryElection {
	return &libraryElection{conn: c, path: path}
}

// Campaign blocks until this session leads. If it fails it removes what the library may have
// left behind.
func (e *libraryElection) Campaign(ctx context.Context) (leading context.Context, err error) {
	election, err := e.campaign(ctx)
	if err != nil {
		return nil, failed("campaign", e.path, err)
	}
	e.election = election
	leading, e.end = drivers.Bound(ctx, e.conn)
	return leading, nil
}

func (e *libraryElection) campaign(ctx context.Context) (*concurrency.Election, error) {
	if err := e.conn.gate.pass(ctx, e.conn.done); err != nil {
		return nil, err
	}
	session, err := e.conn.sessions.of(e.conn)
	if err != nil {
		return nil, err
	}
	election := concurrency.NewElection(session, e.conn.keys.dir(e.path))
	if err := election.Campaign(ctx, ""); err != nil {
		e.conn.abandon(ctx, e.path)
		return nil, e.conn.ended(ctx, err)
	}
	return election, nil
}

// Token returns the revision at which the leader joined the line. Clients lead in the order of
// these revisions.
func (e *libraryElection) Token() int64 {
	if e.election == nil {
		return drivers.NoSeq
	}
	return e.election.Rev()
}

// Resign gives up the leadership. The library forgets its key even if it could not remove it
// (election.go:142), so only the first call has an effect.
func (e *libraryElection) Resign(ctx context.Context) error {
	if e.election == nil {
		return nil
	}
	e.end()
	election := e.election
	e.election = nil
	if err := election.Resign(ctx); err != nil {
		e.conn.abandon(ctx, e.path)
		return failed("resign", e.path, e.conn.ended(ctx, err))
	}
	return nil
}
