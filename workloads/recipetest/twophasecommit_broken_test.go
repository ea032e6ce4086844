package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestTwoPhaseCommitMutantsAreCaught(t *testing.T) { commitMutants().areCaught(t) }

func commitMutants() mutants[recipe.Protocol] {
	type conn = drivers.Conn
	same := func(c conn) conn { return c }
	// protocol is the correct form, over broken sessions.
	protocol := func(site, coordinator func(conn) conn) recipe.Protocol {
		return recipe.Protocol{
			Site: func(c conn, path string, sites []string, mine string) recipe.Transaction {
				return recipes.NewEphemeralTransaction(site(c), path, sites, mine)
			},
			Coordinator: func(c conn, path string, sites []string) recipe.Coordinator {
				return recipes.NewCoordinator(coordinator(c), path, sites)
			},
			OwnNodes: true,
		}
	}
	// sites is the correct form, with other sites.
	sites := func(other func(t recipe.Transaction, c conn, path string) recipe.Transaction) recipe.Protocol {
		p := protocol(same, same)
		p.Site = func(c conn, path string, sites []string, mine string) recipe.Transaction {
			return other(recipes.NewEphemeralTransaction(c, path, sites, mine), c, path)
		}
		return p
	}
	hasty := protocol(same, same)
	hasty.Coordinator = func(c conn, path string, sites []string) recipe.Coordinator {
		return recipes.NewCoordinator(c, path, sites[:1])
	}
	form := func(p recipe.Protocol) Form { return TwoPhaseCommitForm{Name: "ephemeral-sites", Protocol: p} }
	return mutants[recipe.Protocol]{protocol(same, same), form, []mutant[recipe.Protocol]{
		{"asks only one site", hasty,
			[]string{"all commit"}},
		{"treats its own vote as the decision", sites(func(t recipe.Transaction, _ conn, _ string) recipe.Transaction {
			return &ownSite{Transaction: t}
		}),
			[]string{"one aborts", "any schedule"}},
		{"does not retry", protocol(func(c conn) conn { return brittle{c} }, func(c conn) conn { return brittle{c} }),
			[]string{"any replies are lost"}},
		{"aborts the transaction when canceled", sites(func(t recipe.Transaction, c conn, path string) recipe.Transaction {
			return endingSite{t, c, path}
		}),
			[]string{"a site cancels"}},
		{"has nodes that outlive sessions", protocol(func(c conn) conn { return undead{c} }, same),
			[]string{"a site is lost before it has voted"}},
		{"forgets votes", protocol(same, func(c conn) conn { return secondThoughts{c} }),
			[]string{"a site is lost after it has voted"}},
		{"decides nothing when canceled", protocol(same, func(c conn) conn { return silentQuitter{c} }),
			[]string{"the coordinator cancels"}},
		{"does not see earlier votes", protocol(same, func(c conn) conn { return unseeing{c} }),
			[]string{"the coordinator is lost"}},
		{"does not look for its GUID", protocol(func(c conn) conn { return forgetful{c} }, same),
			[]string{"replies to creates are lost"}},
		{"reads twice", protocol(func(c conn) conn { return twice{c} }, same),
			[]string{"settled cost", "identities"}},
	}}
}

// ownSite treats its own vote as the decision.
type ownSite struct {
	recipe.Transaction
	wants bool
}

func (t *ownSite) Vote(ctx context.Context, commit bool) error {
	t.wants = commit
	return t.Transaction.Vote(ctx, commit)
}

func (t *ownSite) Decision(ctx context.Context) (bool, error) {
	_, err := t.Transaction.Decision(ctx)
	return t.wants, err
}

// endingSite decides to abort when its Decision is canceled.
type endingSite struct {
	recipe.Transaction
	conn drivers.Conn
	path string
}

func (t endingSite) Decision(ctx context.Context) (bool, error) {
	commit, err := t.Transaction.Decision(ctx)
	if err != nil {
		_, e := t.conn.Set(context.WithoutCancel(ctx), t.path, []byte("abort"), drivers.AnyVersion)
		err = errors.Join(err, e)
	}
	return commit, err
}

// secondThoughts commits only if all sites still have their nodes.
type secondThoughts struct{ drivers.Conn }

func (b secondThoughts) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	sites, err := b.Conn.Children(ctx, path, nil)
	if err != nil {
		return drivers.Stat{}, err
	}
	if len(sites) < 4 {
		data = []byte("abort")
	}
	return b.Conn.Set(ctx, path, data, version)
}

// silentQuitter writes nothing after the call was canceled.
type silentQuitter struct{ drivers.Conn }

func (b silentQuitter) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	if cleaningUp(ctx) {
		return drivers.Stat{}, nil
	}
	return b.Conn.Set(ctx, path, data, version)
}

// unseeing sees no data that was there before it set its watch.
type unseeing struct{ drivers.Conn }

func (b unseeing) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := b.Conn.Get(ctx, path, w)
	if w != nil {
		data = nil
	}
	return data, stat, err
}

func (b brittle) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := b.Conn.Get(ctx, path, w)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = errors.New("no answer")
	}
	return data, stat, err
}

func (b twice) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if data, stat, err := b.Conn.Get(ctx, path, nil); err != nil {
		return data, stat, err
	}
	return b.Conn.Get(ctx, path, w)
}
