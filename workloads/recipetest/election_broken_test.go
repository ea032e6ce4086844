package recipetest

import (
	"context"
	"path"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestElectionMutantsAreCaught(t *testing.T) {
	electionMutants().areCaught(t, lockMutants().caught()...)
}

// openElection is the constructor of an election.
type openElection = func(drivers.Conn, string) recipe.Election

func electionMutants() mutants[openElection] {
	type (
		conn     = drivers.Conn
		election = recipe.Election
	)
	right := func(c conn, dir string) election { return recipes.NewAcknowledgedElection(c, dir) }
	form := func(open openElection) Form {
		return ElectionForm{Name: "acknowledged", Acknowledged: true, New: open}
	}
	known := []string{"the leader is known"}
	return mutants[openElection]{right, form, []mutant[openElection]{
		{"acknowledges before it leads",
			func(c conn, dir string) election { return hasty{recipes.NewAcknowledgedElection(c, dir)} }, known},
		{"does not acknowledge",
			func(c conn, dir string) election { return mute{recipes.NewAcknowledgedElection(c, dir)} }, known},
		{"keeps its acknowledgement when it resigns",
			func(c conn, dir string) election { return clinging{recipes.NewAcknowledgedElection(c, dir)} }, known},
		{"acknowledges with a persistent node",
			func(c conn, dir string) election { return lasting{recipes.NewAcknowledgedElection(c, dir), c, dir} }, known},
	}}
}

// hasty acknowledges before the client leads.
type hasty struct{ *recipes.AcknowledgedElection }

func (e hasty) Campaign(ctx context.Context) (context.Context, error) {
	if err := e.AcknowledgedElection.Acknowledge(ctx); err != nil {
		return nil, err
	}
	return e.AcknowledgedElection.Campaign(ctx)
}

// mute acknowledges nothing.
type mute struct{ *recipes.AcknowledgedElection }

func (mute) Acknowledge(context.Context) error { return nil }

// clinging resigns without removing its acknowledgement.
type clinging struct{ *recipes.AcknowledgedElection }

func (e clinging) Resign(ctx context.Context) error { return e.Election.Resign(ctx) }

// lasting acknowledges with a node that outlives the session.
type lasting struct {
	*recipes.AcknowledgedElection
	conn drivers.Conn
	dir  string
}

func (e lasting) leader() string { return path.Join(e.dir, "leader") }

func (e lasting) Acknowledge(ctx context.Context) error {
	_, err := e.conn.Create(ctx, e.leader(), nil, 0)
	return err
}

func (e lasting) Resign(ctx context.Context) error {
	if err := e.conn.Delete(ctx, e.leader(), drivers.AnyVersion); err != nil {
		return err
	}
	return e.AcknowledgedElection.Resign(ctx)
}
