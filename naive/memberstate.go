package naive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A MemberState keeps the states of the members of a group. One node has a
// table of all states: a member reads it, changes its own entry and sets it, if
// it has still the version that was read. Each update refuses those of all
// members that have read the table before it, and they read and set it again.
// A member that was refused 10 times gives up. In return, a client reads the
// states of all members at once.
// Cost: N members make U updates each, one at a time, and after each N updates
// one member reads all states: no notifications, U(N+1) reads, N·U writes. N
// updates at the same time take between N and N(N+1)/2 writes, and as many
// reads.
type MemberState struct {
	conn   drivers.Conn
	dir    string
	member string
}

// stateAttempts is how often a member sets the table before it gives up.
const stateAttempts = 10

// NewMemberState returns the states in dir, an existing node, for the member
// with this name. One client at a time updates the state of a member.
func NewMemberState(conn drivers.Conn, dir, member string) *MemberState {
	return &MemberState{conn: drivers.Steady(conn), dir: dir, member: member}
}

// Update changes this member's state. change gets the state, nil if there is
// none yet, and returns another one. Update may call change several times and
// applies one of its results. ErrBadVersion means that it has given up: the
// update was not applied.
func (m *MemberState) Update(ctx context.Context, change func(state []byte) []byte) error {
	if err := m.update(ctx, change); err != nil {
		return fmt.Errorf("update the state of %s in %s: %w", m.member, m.dir, err)
	}
	return nil
}

func (m *MemberState) update(ctx context.Context, change func(state []byte) []byte) error {
	refused := 0
	for changed := []byte(nil); ; {
		// 1. Get the table.
		data, stat, err := m.conn.Get(ctx, m.dir, nil)
		if err != nil {
			return err
		}
		table := make(map[string][]byte)
		if len(data) > 0 {
			if err := json.Unmarshal(data, &table); err != nil {
				return err
			}
		}
		// 2. If the reply to an earlier write was lost and the state is what
		// it wrote, the update is done.
		if changed != nil && bytes.Equal(table[m.member], changed) {
			return nil
		}
		// 3. Change the state, and set the table, if it has still the version
		// that was read.
		changed = change(table[m.member])
		table[m.member] = changed
		if data, err = json.Marshal(table); err != nil {
			return err
		}
		_, err = m.conn.Set(ctx, m.dir, data, stat.Version)
		switch {
		// 4. If the table has another version, or the reply was lost, go to
		// step 1.
		case errors.Is(err, drivers.ErrBadVersion):
			if refused++; refused == stateAttempts {
				return err
			}
			changed = nil
		case !errors.Is(err, drivers.ErrConnectionLoss):
			return err
		}
		if err := m.conn.Sync(ctx, m.dir); err != nil {
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
	data, _, err := m.conn.Get(ctx, m.dir, nil)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	states := make(map[string][]byte)
	return states, json.Unmarshal(data, &states)
}
