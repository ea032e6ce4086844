package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestRaceIsWonByCreating has a session lose the race for a node although the node is missing whenever it
// looks. Only the notification before its successful create is useful: that the node was created by
// another session is none, nor is that it was gone for a moment.
func TestRaceIsWonByCreating(t *testing.T) {
	a := New(DefaultLimits)
	s := newScript(a, 1)
	create := func(err error) {
		s.call(drivers.Message{Op: drivers.OpCreate, Path: []byte("/lock"), Mode: drivers.Ephemeral, Err: err})
	}
	look := func(err error) {
		s.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/lock"), Watch: true, Err: err})
	}
	notify := func(e drivers.EventType) {
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte("/lock")})
	}
	create(drivers.ErrNodeExists)
	look(nil)
	notify(drivers.Deleted)
	create(drivers.ErrNodeExists)
	look(drivers.ErrNoNode) // deleted again
	notify(drivers.Created) // by another session, before its own create
	create(drivers.ErrNodeExists)
	look(nil)
	notify(drivers.Deleted)
	create(nil)
	r := a.Report()
	for _, p := range r.Places {
		if p.Path == "/lock" && p.Useful != nil {
			if *p.Useful != 1 || *p.Wasted != 2 {
				t.Errorf("%d useful and %d wasted, want 1 and 2", *p.Useful, *p.Wasted)
			}
			return
		}
	}
	t.Errorf("the form is not recognised: %+v", r.Places)
}
