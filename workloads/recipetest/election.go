package recipetest

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// An ElectionForm is a form under test. A leader must meet the requirements of a lock's
// holder, and more if it acknowledges.
type ElectionForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.Election
	// Acknowledged forms create a node named leader when the leader acknowledges.
	Acknowledged bool
	ReadsFirst   bool // see [LockForm]
	Library
}

// String implements [Form].
func (f ElectionForm) String() string { return f.lock().String() }

// lock returns the election as a lock.
func (f ElectionForm) lock() LockForm {
	lock := LockForm{Recipe: "election", Name: f.Name, ReadsFirst: f.ReadsFirst, Library: f.Library, New: func(c drivers.Conn, path string) recipe.Lock {
		return recipe.ElectionLock{Election: f.New(c, path)}
	}}
	if f.Acknowledged {
		lock.HolderNodes = 1
	}
	return lock
}

func (f ElectionForm) cases() []testCase {
	cases := f.lock().lockCases()
	if f.Acknowledged {
		cases = append(cases, lockCase{"the leader is known",
			"A client that has no predecessor does not necessarily know that it leads. The node leader exists only from the leader's acknowledgement until it resigns or loses its session.",
			leaderIsKnown})
	}
	return f.lock().test(cases)
}

func leaderIsKnown(ctx context.Context, x *lockTrial) {
	for _, lost := range []bool{false, true} {
		c := x.client(ctx)
		e := c.lock.(recipe.ElectionLock).Election.(recipe.Acknowledger)
		if _, err := e.Campaign(ctx); err != nil {
			x.Fatalf("campaign: %v", err)
		}
		x.expectLeader(ctx, false, "a client that has not acknowledged leads")
		if err := e.Acknowledge(ctx); err != nil {
			x.Fatalf("acknowledge: %v", err)
		}
		x.expectLeader(ctx, true, "the leader has acknowledged")
		if lost {
			c.close()
		} else if err := e.Resign(ctx); err != nil {
			x.Fatalf("resign: %v", err)
		}
		x.expectLeader(ctx, false, "no client leads")
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
		x.Errorf("%s, and the node leader exists: %v (%v), want %v", while, there, err, want)
	}
}
