package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

func TestTwoPhaseCommitMutantsAreCaught(t *testing.T) { commitMutants().run(t) }

func commitMutants() *plants[workloads.Protocol] {
	type conn = drivers.Conn
	same := func(c conn) conn { return c }
	// protocol is the correct form, over broken sessions.
	protocol := func(site, coordinator func(conn) conn) workloads.Protocol {
		return workloads.Protocol{
			Site: func(c conn, path string, sites []string, mine string) workloads.Transaction {
				return recipes.NewEphemeralTransaction(site(c), path, sites, mine)
			},
			Coordinator: func(c conn, path string, sites []string) workloads.Coordinator {
				return recipes.NewCoordinator(coordinator(c), path, sites)
			},
			OwnNodes: true,
		}
	}
	// sites is the correct form, with other sites.
	sites := func(other func(t workloads.Transaction, c conn, path string) workloads.Transaction) workloads.Protocol {
		p := protocol(same, same)
		p.Site = func(c conn, path string, sites []string, mine string) workloads.Transaction {
			return other(recipes.NewEphemeralTransaction(c, path, sites, mine), c, path)
		}
		return p
	}
	hasty := protocol(same, same)
	hasty.Coordinator = func(c conn, path string, sites []string) workloads.Coordinator {
		return recipes.NewCoordinator(c, path, sites[:1])
	}
	return newMutants(protocol(same, same), func(p workloads.Protocol) ([]lockCase, LockForm) {
		form := TwoPhaseCommitForm{"ephemeral-sites", p}
		return form.cases(), form.lock()
	}).
		plant("asks only one site", hasty, "all commit").
		plant("takes its own vote for the decision", sites(func(t workloads.Transaction, _ conn, _ string) workloads.Transaction {
			return &ownSite{Transaction: t}
		}), "one aborts", "any schedule").
		plant("asks only once", protocol(func(c conn) conn { return brittle{c} }, func(c conn) conn { return brittle{c} }),
			"any replies are lost").
		plant("ends it all when it gives up", sites(func(t workloads.Transaction, c conn, path string) workloads.Transaction {
			return endingSite{t, c, path}
		}), "a site gives up").
		plant("has nodes that outlive sessions", protocol(func(c conn) conn { return undead{c} }, same),
			"a site is lost before it has voted").
		plant("forgets votes", protocol(same, func(c conn) conn { return secondThoughts{c} }),
			"a site is lost after it has voted").
		plant("says nothing when it gives up", protocol(same, func(c conn) conn { return silentQuitter{c} }), "the coordinator gives up").
		plant("does not see earlier votes", protocol(same, func(c conn) conn { return unseeing{c} }), "the coordinator is lost").
		plant("does not look for its GUID", protocol(func(c conn) conn { return forgetful{c} }, same),
			"replies to creates are lost").
		plant("looks twice", protocol(func(c conn) conn { return twice{c} }, same), "settled cost", "identities")
}

// ownSite treats its own vote as the decision.
type ownSite struct {
	workloads.Transaction
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
	workloads.Transaction
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
	if givenUp(ctx) {
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
