package recipetest

import (
	"context"
	"path"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// electionMutants returns elections with one defect each, by name.
func electionMutants() map[string]func(drivers.Conn, string) workloads.Election {
	return map[string]func(drivers.Conn, string) workloads.Election{
		"acknowledges before it leads": func(c drivers.Conn, dir string) workloads.Election {
			return hasty{recipes.NewAcknowledgedElection(c, dir)}
		},
		"does not acknowledge": func(c drivers.Conn, dir string) workloads.Election {
			return mute{recipes.NewAcknowledgedElection(c, dir)}
		},
		"does not take its acknowledgement back": func(c drivers.Conn, dir string) workloads.Election {
			return clinging{recipes.NewAcknowledgedElection(c, dir)}
		},
		"acknowledges for good": func(c drivers.Conn, dir string) workloads.Election {
			return lasting{recipes.NewAcknowledgedElection(c, dir), c, dir}
		},
	}
}

func TestElectionMutantsAreCaught(t *testing.T) {
	for name, open := range electionMutants() {
		form := ElectionForm{Name: "acknowledged", Acknowledged: true, New: func(c drivers.Conn, dir string) workloads.Election {
			return open(c, dir)
		}}
		t.Run(name, func(t *testing.T) {
			cases := form.cases()
			failures := verdict(t, cases[len(cases)-1], form.office())
			if len(failures) == 0 {
				t.Errorf("an election that %s passes", name)
			}
			t.Logf("%.200q", failures)
		})
	}
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
