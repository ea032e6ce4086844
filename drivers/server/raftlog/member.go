package raftlog

import (
	"fmt"
	"slices"
	"strings"
)

// A Member is one member of a raft group.
type Member struct {
	ID     uint64
	Voters []uint64 // all members' IDs, in ascending order, including ID
}

// check returns an error if the member cannot be one.
func (m Member) check() error {
	for i, id := range m.Voters {
		if id == 0 || i > 0 && m.Voters[i-1] >= id {
			return fmt.Errorf("invalid members %v: IDs must be positive, different and in ascending order", m.Voters)
		}
	}
	if !slices.Contains(m.Voters, m.ID) {
		return fmt.Errorf("invalid member %d: must be one of %s", m.ID, m.names())
	}
	return nil
}

func (m Member) equal(o Member) bool { return m.ID == o.ID && slices.Equal(m.Voters, o.Voters) }

// names returns the IDs of the group, such as "1, 2, 3".
func (m Member) names() string {
	var names []string
	for _, id := range m.Voters {
		names = append(names, fmt.Sprint(id))
	}
	return strings.Join(names, ", ")
}

func (m Member) String() string { return fmt.Sprintf("member %d of %s", m.ID, m.names()) }
