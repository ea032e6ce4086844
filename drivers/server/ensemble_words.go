package server

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
)

// state returns what four-letter words show of the ensemble, nil without one. The caller holds the lock.
func (e *ensemble) state() *fourletter.Ensemble {
	if e == nil {
		return nil
	}
	x := e.member.Status()
	return &fourletter.Ensemble{Serving: e.member.Serving(), ID: x.ID, Role: x.Role, Leader: x.Leader, Term: x.Term,
		Committed: x.Committed, Applied: x.Applied, Elections: x.Elections, Followers: x.Followers, Synced: x.Synced,
		Members: e.settings.Addresses}
}

// expires returns when a session expires. Only the leader knows that; others know how long it has at
// most.
func (e *ensemble) expires(x *session) time.Time {
	left, ok := e.member.Expires(x.id)
	if !ok {
		left = x.timeout
	}
	return time.Now().Add(left)
}
