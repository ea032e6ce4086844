package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A MemberState keeps the states of the members of a group. Each member has a
// node of its own, which no other client writes, so however many members
// update their states at the same time, no update is refused. In return, a
// client that reads the states of all members reads each node.
// Cost: N members make U updates each, and after each N updates one member
// reads all states: no notifications, U(2N+1) reads, N·U writes, also if all
// members update at the same time.
type MemberState struct {
	conn   drivers.Conn
	dir    string
	member string
}

// NewMemberState returns the states in dir, an existing node, for the member
// with this name. One client at a time updates the state of a member.
func NewMemberState(conn drivers.Conn, dir, member string) *MemberState {
	return &MemberState{conn: drivers.Steady(conn), dir: dir, member: member}
}

// Update changes this member's state. change gets the state, nil if there is
// none yet, and returns another one. Update may call change several times and
// applies one of its results.
func (m *MemberState) Update(ctx context.Context, change func(state []byte) []byte) error {
	if err := m.update(ctx, change); err != nil {
		return fmt.Errorf("update the state of %s in %s: %w", m.member, m.dir, err)
	}
	return nil
}

func (m *MemberState) update(ctx context.Context, change func(state []byte) []byte) error {
	node := path.Join(m.dir, m.member)
	for changed := []byte(nil); ; {
		// 1. Get this member's node.
		state, stat, err := m.conn.Get(ctx, node, nil)
		missing := errors.Is(err, drivers.ErrNoNode)
		if err != nil && !missing {
			return err
		}
		// 2. If the reply to an earlier write was lost and the state is what
		// it wrote, the update is done.
		if changed != nil && bytes.Equal(state, changed) {
			return nil
		}
		// 3. Change the state, and set the node, if it has still the version
		// that was read. The first update creates the node.
		changed = change(state)
		if missing {
			_, err = m.conn.Create(ctx, node, changed, 0)
		} else {
			_, err = m.conn.Set(ctx, node, changed, stat.Version)
		}
		switch {
		// 4. If an earlier session of this member has written in between, or
		// the reply was lost, go to step 1.
		case errors.Is(err, drivers.ErrBadVersion), errors.Is(err, drivers.ErrNodeExists):
			changed = nil
		case !errors.Is(err, drivers.ErrConnectionLoss):
			return err
		}
		if err := m.conn.Sync(ctx, node); err != nil {
			return err
		}
	}
}

// States returns the states of all members that have one, by name.
func (m *MemberState) States(ctx context.Context) (map[string][]byte, error) {
	states, err := m.states(ctx)
	if err != nil {
		return nil, fmt.Errorf("get the states in %s: %w", m.dir, err)
	}
	return states, nil
}

func (m *MemberState) states(ctx context.Context) (map[string][]byte, error) {
	members, err := m.conn.Children(ctx, m.dir, nil)
	if err != nil {
		return nil, err
	}
	states := make(map[string][]byte)
	for _, member := range members {
		state, _, err := m.conn.Get(ctx, path.Join(m.dir, member.Name), nil)
		if err != nil {
			return nil, err
		}
		states[member.Name] = state
	}
	return states, nil
}
