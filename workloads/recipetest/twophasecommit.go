package recipetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A TwoPhaseCommitForm is a form under test.
type TwoPhaseCommitForm struct {
	Name string // the form's name in package cost
	workloads.Protocol
}

// TwoPhaseCommit checks a form on a service, as [Lock] does. A form whose sites have nodes of
// their own must also notice when a site's session is lost.
func TwoPhaseCommit(t *testing.T, service drivers.Service, form TwoPhaseCommitForm) {
	checkAll(t, service, form.lock(), form.cases())
}

// TwoPhaseCommitBubbled checks a form, as [LockBubbled] does.
func TwoPhaseCommitBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form TwoPhaseCommitForm) {
	checkBubbled(t, open, form.lock(), form.cases())
}

func (f TwoPhaseCommitForm) lock() LockForm {
	return LockForm{Recipe: "two-phase-commit", Name: f.Name, New: newErrand}
}

func (f TwoPhaseCommitForm) cases() []lockCase {
	at := func(run func(ctx context.Context, x *commitTrial)) func(context.Context, *lockTrial) {
		return func(ctx context.Context, x *lockTrial) { run(ctx, &commitTrial{lockTrial: x, form: f}) }
	}
	cases := []lockCase{
		{"all commit", "All commit when all have voted to, and nobody before.", at(commitAll)},
		{"one aborts", "One vote to abort decides at once, and whoever has not voted yet learns it.", at(commitAborted)},
		{"any schedule", "All decide alike whoever comes when: commit if all vote for it, and otherwise abort.", at(commitAnySchedule)},
		{"any replies are lost", "Sessions survive broken connections, and no vote and no decision is changed by a lost reply.", at(commitRepliesLost)},
		{"a site gives up", "A site that does not wait for the decision has voted all the same.", at(commitGivenUp)},
		{"a site is lost before it has voted", "Nobody commits without its vote. It may come back and vote; where its node goes with it, it has aborted.", at(commitSiteLost)},
		{"a site is lost after it has voted", "A vote that was read stands.", at(commitVoterLost)},
	}
	if f.Coordinator != nil {
		cases = append(cases,
			lockCase{"the coordinator is lost", "Another one may begin again.", at(commitCoordinatorLost)},
			lockCase{"the coordinator gives up", "A coordinator that gives up aborts, so that no site waits for it.", at(commitCoordinatorGivesUp)})
	}
	if f.OwnNodes {
		cases = append(cases, lockCase{"replies to creates are lost",
			"The service made a site's node, the reply never arrived, and the session lives on. The site must know its node again.",
			at(commitCreatesLost)})
	}
	return append(cases, togetherCosts(workloads.Form{Recipe: "two-phase-commit", Name: f.Name, New: workloads.TwoPhaseCommits(f.Protocol)})...)
}

// A commitTrial is the state of one case.
type commitTrial struct {
	*lockTrial
	form         TwoPhaseCommitForm
	transactions int
	path         string // of the current transaction
	sites        []string
}

// A voter is a client with its part in the transaction.
type voter struct {
	*lockClient
	workloads.Transaction
	commits bool // valid once the client knows the decision
}

// begin creates the nodes of a new transaction with this number of sites.
func (x *commitTrial) begin(ctx context.Context, sites int) {
	x.Helper()
	x.transactions++
	x.path, x.sites = fmt.Sprintf("%s/transaction-%d", x.dir, x.transactions), nil
	_, err := x.admin.Create(ctx, x.path, nil, 0)
	x.done(err)
	for i := range sites {
		x.sites = append(x.sites, fmt.Sprintf("site-%d", i+1))
		if !x.form.OwnNodes {
			_, err := x.admin.Create(ctx, x.path+"/"+x.sites[i], nil, 0)
			x.done(err)
		}
	}
}

// end removes the transaction. It fails the case if there is a node that is not a site's.
func (x *commitTrial) end(ctx context.Context) {
	x.Helper()
	x.done(x.admin.Sync(ctx, x.path))
	nodes, err := x.admin.Children(ctx, x.path, nil)
	x.done(err)
	for _, node := range nodes {
		if !slices.Contains(x.sites, node.Name) {
			x.Errorf("there is a node %s, and the sites are %v", node.Name, x.sites)
		}
		x.done(x.admin.Delete(ctx, x.path+"/"+node.Name, drivers.AnyVersion))
	}
	x.done(x.admin.Delete(ctx, x.path, drivers.AnyVersion))
}

func (x *commitTrial) voter(c *lockClient, site int) *voter {
	return &voter{lockClient: c, Transaction: x.form.Site(c.conn, x.path, x.sites, x.sites[site])}
}

// join has the sites of a new transaction join, and then its coordinator begin. The coordinator
// is nil if the form has none.
func (x *commitTrial) join(ctx context.Context, sites int) (voters []*voter, coordinator *voter) {
	x.Helper()
	x.begin(ctx, sites)
	for i, c := range x.several(ctx, sites) {
		v := x.voter(c, i)
		x.done(v.Join(ctx))
		voters = append(voters, v)
	}
	return voters, x.coordinator(ctx)
}

// coordinator has a coordinator begin, if the form has one.
func (x *commitTrial) coordinator(ctx context.Context) *voter {
	x.Helper()
	if x.form.Coordinator == nil {
		return nil
	}
	v := &voter{lockClient: x.client(ctx)}
	c := x.form.Coordinator(v.conn, x.path, x.sites)
	v.send(ctx, func(ctx context.Context) (err error) {
		v.commits, err = c.Coordinate(ctx)
		return err
	})
	x.settle(ctx)
	return v
}

// conclude votes and waits for the decision.
func (v *voter) conclude(ctx context.Context, commit bool) error {
	err := v.Vote(ctx, commit)
	if err == nil {
		v.commits, err = v.Decision(ctx)
	}
	return err
}

// vote has sites vote to commit, one at a time.
func (x *commitTrial) vote(ctx context.Context, voters ...*voter) {
	x.Helper()
	for _, v := range voters {
		v.send(ctx, func(ctx context.Context) error { return v.conclude(ctx, true) })
		x.settle(ctx)
	}
}

// waiting fails the case unless all these voters still wait for the decision.
func (x *commitTrial) waiting(ctx context.Context, voters ...*voter) {
	x.Helper()
	x.expectBack(ctx, false, clientsOf(voters)...)
}

// decided fails the case unless all these voters have made this decision.
func (x *commitTrial) decided(ctx context.Context, commit bool, voters ...*voter) {
	x.Helper()
	voters = slices.DeleteFunc(voters, func(v *voter) bool { return v == nil })
	x.expectBack(ctx, true, clientsOf(voters)...)
	for i, v := range voters {
		if v.commits != commit {
			x.Errorf("of %d number %d commits: %v, want %v", len(voters), i+1, v.commits, commit)
		}
	}
}

func clientsOf(voters []*voter) []*lockClient {
	clients := make([]*lockClient, len(voters))
	for i, v := range voters {
		clients[i] = v.lockClient
	}
	return clients
}

func commitAll(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	x.waiting(ctx, voters[:3]...)
	x.vote(ctx, voters[3])
	x.decided(ctx, true, append(voters, coordinator)...)
	x.end(ctx)
}

func commitAborted(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[0])
	voters[2].send(ctx, func(ctx context.Context) error { return voters[2].conclude(ctx, false) })
	x.decided(ctx, false, voters[0], voters[2], coordinator)
	x.vote(ctx, voters[1], voters[3])
	x.decided(ctx, false, voters...)
	x.end(ctx)
}

func commitGivenUp(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	voters[1].giveUp(ctx)
	x.vote(ctx, voters[2:]...)
	x.decided(ctx, true, voters[0], voters[2], voters[3], coordinator)
	x.end(ctx)
}

func commitSiteLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	x.done(voters[2].conn.Close())
	if err := voters[2].Vote(ctx, true); err == nil {
		x.Errorf("a vote without a session returns no error")
	}
	x.vote(ctx, voters[3])
	if !x.form.OwnNodes {
		x.waiting(ctx, voters[0], voters[1], voters[3])
	}
	back := x.voter(x.client(ctx), 2)
	x.done(back.Join(ctx))
	x.vote(ctx, back)
	x.decided(ctx, !x.form.OwnNodes, voters[0], voters[1], back, voters[3], coordinator)
	x.end(ctx)
}

func commitVoterLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	x.done(voters[1].conn.Close())
	x.settle(ctx)
	voters[1].failed(ctx, drivers.ErrSessionLost)
	x.vote(ctx, voters[2:]...)
	x.decided(ctx, true, voters[0], voters[2], voters[3], coordinator)
	x.end(ctx)
}

func commitCoordinatorLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	x.done(coordinator.conn.Close())
	x.settle(ctx)
	coordinator.failed(ctx, drivers.ErrSessionLost)
	x.vote(ctx, voters[3])
	x.waiting(ctx, voters...)
	coordinator = x.coordinator(ctx)
	x.decided(ctx, true, append(voters, coordinator)...)
	x.decided(ctx, true, x.coordinator(ctx)) // and again, for another coordinator
	x.end(ctx)
}

func commitCoordinatorGivesUp(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	coordinator.giveUp(ctx)
	x.vote(ctx, voters[3])
	x.decided(ctx, false, voters...)
	x.end(ctx)
}

func commitAnySchedule(ctx context.Context, x *commitTrial) {
	for seed := range uint64(6) {
		x.rush(ctx, seed, nil)
	}
}

func commitRepliesLost(ctx context.Context, x *commitTrial) {
	for seed := range uint64(6) {
		x.rush(ctx, seed, oneInFive)
	}
}

// commitCreatesLost loses the reply to the first create of each site.
func commitCreatesLost(ctx context.Context, x *commitTrial) {
	var lost atomic.Int64
	x.rush(ctx, 0, func(*rand.Rand) func(drivers.Message) bool {
		fresh := true
		return func(m drivers.Message) bool {
			lose := fresh && m.Op == drivers.OpCreate
			fresh = fresh && !lose
			lost.Add(one(lose))
			return lose
		}
	})
	if lost.Load() != crowd {
		x.Errorf("%d replies to creates were lost, want %d", lost.Load(), crowd)
	}
}

// rush has a crowd of sites and a coordinator go through a transaction at random times. If the
// seed is odd, one site votes to abort.
func (x *commitTrial) rush(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	x.begin(ctx, crowd)
	commits := seed%2 == 0
	decisions := make([]bool, crowd+1)
	x.atOnce(ctx, crowd+1, seed, lose, func(i int, c *lockClient, rng *rand.Rand) (err error) {
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		if i == crowd {
			decisions[i] = commits
			if x.form.Coordinator != nil {
				decisions[i], err = x.form.Coordinator(c.conn, x.path, x.sites).Coordinate(ctx)
			}
			return err
		}
		v := x.voter(c, i)
		if err := v.Join(ctx); err != nil {
			return err
		}
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		err = v.conclude(ctx, commits || i != int(seed)%crowd)
		decisions[i] = v.commits
		return err
	})
	if slices.Contains(decisions, !commits) {
		x.Errorf("seed %d: that all vote to commit is %v, and the decisions are %v", seed, commits, decisions)
	}
	x.end(ctx)
	x.dismiss()
}
