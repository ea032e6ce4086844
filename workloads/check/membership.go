package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Membership checks what the members of a group see of each other. When changes stop, members must
// see the current membership. In an ordinary group every member must see all members; in a ring
// only the first must. Each other member of a ring must see the member directly ahead of it, and
// none of those that were directly ahead of it and have gone. No member may see that another one has
// gone that is still there: that one would be back in what it sees later.
type Membership struct {
	ring bool
	tell func(change string)

	mu      sync.Mutex
	members []*GroupMember // in the order of their places
	safety  metrics.Safety
}

// A GroupMember is one client's membership, from joining to leaving.
type GroupMember struct {
	client int
	name   string
	place  int64
	remote bool      // it is a member by another process, which checks what it sees
	gone   []string  // members that were directly ahead, and have gone since it last looked
	sees   []string  // the names it saw last; nil before the first time
	at     time.Time // when it saw them
	err    error     // why it sees nothing more
	// missed are the names of members that it saw and then saw no more.
	missed map[string]bool
	// moved has an element when something has changed.
	moved chan struct{}
}

// NewMembership returns the membership of an ordinary group, or of a ring. tell passes the changes of this
// process's members to other processes, whose Learn they reach in this order.
func NewMembership(ring bool, tell func(change string)) *Membership {
	return &Membership{ring: ring, tell: tell}
}

// Joined records a new member. It replaces the membership of the same client's lost session.
func (r *Membership) Joined(client int, name string, place int64) *GroupMember {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(change{client, name, place}.text())
	return r.joined(client, name, place)
}

func (r *Membership) joined(client int, name string, place int64) *GroupMember {
	if lost := slices.IndexFunc(r.members, func(m *GroupMember) bool { return m.client == client }); lost >= 0 {
		r.remove(lost)
	}
	m := &GroupMember{client: client, name: name, place: place, missed: make(map[string]bool), moved: make(chan struct{}, 1)}
	r.members = append(r.members, m)
	slices.SortFunc(r.members, func(a, b *GroupMember) int { return cmp.Compare(a.place, b.place) })
	r.moveAll()
	return m
}

// Left records that a member has left.
func (r *Membership) Left(m *GroupMember) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.withdraw(m)
}

// withdraw removes the member if it still is one.
func (r *Membership) withdraw(m *GroupMember) {
	if i := slices.Index(r.members, m); i >= 0 {
		r.tell(change{Client: m.client}.text())
		r.remove(i)
		r.moveAll()
	}
}

// A change is the joining or the leaving of a member.
type change struct {
	Client int
	Name   string // "" if it leaves
	Place  int64
}

func (c change) text() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has no field that JSON cannot represent
	}
	return string(text)
}

// Learn records a change of another process's members.
func (r *Membership) Learn(text string) {
	var c change
	if json.Unmarshal([]byte(text), &c) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Name != "" {
		r.joined(c.Client, c.Name, c.Place).remote = true
		return
	}
	if i := slices.IndexFunc(r.members, func(m *GroupMember) bool { return m.client == c.Client }); i >= 0 {
		r.remove(i)
		r.moveAll()
	}
}

func (r *Membership) remove(i int) {
	for _, m := range r.members {
		delete(m.missed, r.members[i].name)
	}
	if i+1 < len(r.members) {
		behind := r.members[i+1]
		if !behind.remote {
			behind.gone = append(append(behind.gone, r.members[i].gone...), r.members[i].name)
		}
	}
	r.members = slices.Delete(r.members, i, i+1)
}

// moveAll makes every member check again, since what they must see has changed.
func (r *Membership) moveAll() {
	for _, m := range r.members {
		m.move()
	}
}

// Saw records what a member sees.
func (r *Membership) Saw(m *GroupMember, names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := m.sees
	m.sees, m.at = slices.Sorted(slices.Values(names)), time.Now()
	r.miss(m, seen)
	m.move()
}

// miss compares what a member sees with what it has seen before. A name is never used again, so a
// member whose name was missing and is back was there all the time.
func (r *Membership) miss(m *GroupMember, seen []string) {
	for _, other := range r.members {
		_, before := slices.BinarySearch(seen, other.name)
		_, now := slices.BinarySearch(m.sees, other.name)
		switch {
		case before && !now:
			m.missed[other.name] = true
		case now && m.missed[other.name]:
			delete(m.missed, other.name)
			AddFinding(&r.safety, false,
				fmt.Sprintf("client %d saw that client %d had gone, which was there", m.client+1, other.client+1))
		}
	}
}

// Stopped records that a member will see nothing more. A member whose session is lost is removed. So
// is one that finds its node gone, which it may find before it learns that its session is lost: it
// may have no turn left in which to join again.
func (r *Membership) Stopped(m *GroupMember, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.err = err
	if errors.Is(err, drivers.ErrSessionLost) || errors.Is(err, drivers.ErrNoNode) {
		r.withdraw(m)
	}
	m.move()
}

func (m *GroupMember) move() {
	select {
	case m.moved <- struct{}{}:
	default:
	}
}

// Await returns when the member sees what it must, with the time since when it has. It returns the
// error of a member that sees nothing more.
func (r *Membership) Await(ctx context.Context, m *GroupMember) (time.Time, error) {
	for {
		at, wrong, err := r.look(m)
		if err != nil {
			return time.Time{}, err
		}
		if wrong == "" {
			return at, nil
		}
		select {
		case <-m.moved:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

func (r *Membership) look(m *GroupMember) (at time.Time, wrong string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wrong = r.wrong(m); wrong == "" {
		r.safety.Checked++
		m.gone = nil
	}
	return m.at, wrong, m.err
}

// wrong describes what is wrong with what a member sees; "" if nothing is.
func (r *Membership) wrong(m *GroupMember) string {
	i := slices.Index(r.members, m)
	switch want := r.names(); {
	case m.sees == nil:
		return "saw nothing of the group"
	case r.ring && i > 0:
		for _, gone := range m.gone {
			if slices.Contains(m.sees, gone) {
				return "did not see that the member ahead of it has gone"
			}
		}
		if !slices.Contains(m.sees, r.members[i-1].name) {
			return "did not see the member ahead of it"
		}
	case !slices.Equal(m.sees, want):
		return fmt.Sprintf("saw %d members, and not the current %d", len(m.sees), len(want))
	}
	return ""
}

func (r *Membership) names() []string {
	var names []string
	for _, m := range r.members {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

// CheckMember checks a member that does not see what it must although changes have stopped.
func (r *Membership) CheckMember(m *GroupMember) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge(m)
}

// CheckAll checks that every member sees what it must.
func (r *Membership) CheckAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		r.judge(m)
	}
}

func (r *Membership) judge(m *GroupMember) {
	r.safety.Checked++
	wrong := r.wrong(m)
	if wrong == "" {
		m.gone = nil
		return
	}
	AddFinding(&r.safety, false, fmt.Sprintf("client %d %s", m.client+1, wrong))
}

func (r *Membership) Verdict() metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.safety
}
