package recipetest

import (
	"context"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// An ElectionForm is a form under test.
type ElectionForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string) workloads.Election
	// Acknowledged forms create a node named leader when the leader acknowledges.
	Acknowledged bool
	Library
}

// Election checks a form on a service, as [Lock] does. A leader must meet the requirements of
// a lock's holder, and more if it acknowledges.
func Election(t *testing.T, service drivers.Service, form ElectionForm) {
	checkAll(t, service, form.office(), form.cases())
}

// ElectionBubbled checks a form, as [LockBubbled] does.
func ElectionBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form ElectionForm) {
	checkBubbled(t, open, form.office(), form.cases())
}

// office returns the election as a lock.
func (f ElectionForm) office() LockForm {
	office := LockForm{Recipe: "election", Name: f.Name, Library: f.Library, New: func(c drivers.Conn, path string) workloads.Lock {
		return workloads.Office{Election: f.New(c, path)}
	}}
	if f.Acknowledged {
		office.Marks = 1
	}
	return office
}

func (f ElectionForm) cases() []lockCase {
	cases := lockCases(f.office())
	if f.Acknowledged {
		cases = append(cases, lockCase{"the leader is known",
			"That nobody is ahead of a client does not mean that it knows that it leads. There is a node that says so only from when the leader has acknowledged until it resigns, and a lost session takes it away.",
			leaderIsKnown})
	}
	return cases
}

func leaderIsKnown(ctx context.Context, x *lockTrial) {
	for _, lost := range []bool{false, true} {
		c := x.client(ctx)
		e := c.lock.(workloads.Office).Election.(workloads.Acknowledger)
		if _, err := e.Campaign(ctx); err != nil {
			x.Fatalf("campaign: %v", err)
		}
		x.expectLeader(ctx, false, "a client that has not acknowledged leads")
		if err := e.Acknowledge(ctx); err != nil {
			x.Fatalf("acknowledge: %v", err)
		}
		x.expectLeader(ctx, true, "the leader has acknowledged")
		if lost {
			if err := c.conn.Close(); err != nil {
				x.Fatalf("closing the leader's session: %v", err)
			}
		} else if err := e.Resign(ctx); err != nil {
			x.Fatalf("resign: %v", err)
		}
		x.expectLeader(ctx, false, "nobody leads")
	}
}

// expectLeader fails the case unless the node leader exists, or does not, as wanted.
func (x *lockTrial) expectLeader(ctx context.Context, want bool, while string) {
	x.Helper()
	err := x.admin.Sync(ctx, x.dir)
	if err != nil {
		x.Fatalf("syncing: %v", err)
	}
	_, there, err := x.admin.Exists(ctx, x.dir+"/leader", nil)
	if err != nil || there != want {
		x.Errorf("%s, and that the node leader is there is %v (%v), want %v", while, there, err, want)
	}
}
