package check

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// MemberStates checks the states of members. Each member counts its updates in its state. When each
// member's updates were acknowledged and none is in progress, a client that reads all states must find
// the number of each: a lower one means that an update was lost, a higher one that an update was
// applied twice.
type MemberStates struct {
	members []string

	mu     sync.Mutex
	safety metrics.Safety
}

// NewMemberStates returns the check of the members with these names.
func NewMemberStates(members []string) *MemberStates { return &MemberStates{members: members} }

// NextState returns the state after one more update, or with the number of the update if that is
// higher: an update whose outcome its member did not learn may be in the state already.
func NextState(state []byte, number int64, unknown bool) []byte {
	made, _ := strconv.ParseInt(string(state), 10, 64)
	if unknown && made == number {
		return state
	}
	return UpdateData(made + 1)
}

// Saw records what a client has read after so many updates of each member.
func (c *MemberStates) Saw(client int, states map[string][]byte, updates int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, name := range c.members {
		c.safety.Checked++
		state, known := states[name]
		number, err := strconv.ParseInt(string(state), 10, 64)
		switch {
		case updates == 0 && !known:
		case !known:
			c.addViolation("client %d found no state of client %d, which has made update %d", client+1, i+1, updates)
		case err != nil:
			c.addViolation("client %d found the state %q of client %d, which was never written", client+1, state, i+1)
		case number < updates:
			c.addViolation("client %d found update %d of client %d: update %d was acknowledged and is lost", client+1, number, i+1, updates)
		case number > updates:
			c.addViolation("client %d found update %d of client %d, which has made %d: one was applied twice", client+1, number, i+1, updates)
		}
	}
	for name := range states {
		if !slices.Contains(c.members, name) {
			c.addViolation("client %d found a state of %q, which is no member", client+1, name)
		}
	}
}

func (c *MemberStates) addViolation(format string, args ...any) {
	AddFinding(&c.safety, false, fmt.Sprintf(format, args...))
}

// Verdict returns all findings.
func (c *MemberStates) Verdict() metrics.Safety {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.safety
}
