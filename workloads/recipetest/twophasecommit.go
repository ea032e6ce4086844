package recipetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A TwoPhaseCommitForm is a form under test. A form whose sites have nodes of their own must
// also notice when a site's session is lost.
type TwoPhaseCommitForm struct {
	Name string // the form's name in package costmodel
	recipe.Protocol
	Library
}

// String implements [Form].
func (f TwoPhaseCommitForm) String() string { return "two-phase-commit/" + f.Name }

func (f TwoPhaseCommitForm) cases() []testCase {
	begin := func(_ context.Context, x *trial) *commitTrial { return &commitTrial{trial: x, form: f} }
	return append(leavingNothing(casesOf(begin, f.commitCases())),
		costCases(workloads.Form{Recipe: "two-phase-commit", Name: f.Name, New: recipe.TwoPhaseCommits(f.Protocol)})...)
}

type commitCase = caseOf[*commitTrial]

// commitCases returns the cases that apply to the form.
func (f TwoPhaseCommitForm) commitCases() []commitCase {
	cases := []commitCase{
		{"all commit", "All sites commit once all have voted to commit, and none commits before.", commitAll},
		{"one aborts", "One vote to abort decides immediately, and sites that have not voted yet learn it.", commitAborted},
		{"any schedule", "All sites make the same decision in whatever order they act: to commit if all vote to commit, and otherwise to abort.", commitAnySchedule},
		{"any replies are lost", "Sessions survive broken connections, and a lost reply changes no vote and no decision.", commitRepliesLost},
		{"a site cancels", "The vote of a site that does not wait for the decision counts.", commitCanceled},
		{"a site is lost before it has voted", "No site commits without its vote. The site may return and vote. If its node ends with its session, it has aborted.", commitSiteLost},
		{"a site is lost after it has voted", "A vote that the coordinator has read stands.", commitVoterLost},
	}
	if f.Coordinator != nil {
		cases = append(cases,
			commitCase{"the coordinator is lost", "Another coordinator can start again.", commitCoordinatorLost},
			commitCase{"the coordinator cancels", "A coordinator that cancels aborts, so that no site waits for it.", commitCoordinatorCancels})
	}
	if f.OwnNodes {
		cases = append(cases, commitCase{"replies to creates are lost",
			"The service created a site's node, the reply was lost, and the session is still alive. The site must recognize its node.",
			commitCreatesLost})
	}
	return cases
}

// A commitTrial is the state of one case.
type commitTrial struct {
	*trial
	form         TwoPhaseCommitForm
	transactions int
	path         string // of the current transaction
	sites        []string
}

// A voter is a client with its part in the transaction.
type voter struct {
	*client
	recipe.Transaction
	commits bool // valid once the client knows the decision
}

// begin creates the nodes of a new transaction with this number of sites.
func (x *commitTrial) begin(ctx context.Context, sites int) {
	x.Helper()
	x.transactions++
	x.path, x.sites = fmt.Sprintf("%s/transaction-%d", x.dir, x.transactions), nil
	_, err := x.admin.Create(ctx, x.path, nil, 0)
	x.must(err)
	for i := range sites {
		x.sites = append(x.sites, fmt.Sprintf("site-%d", i+1))
		if !x.form.OwnNodes {
			_, err := x.admin.Create(ctx, x.path+"/"+x.sites[i], nil, 0)
			x.must(err)
		}
	}
}

// end removes the transaction. It fails the case if there is a node that is not a site's.
func (x *commitTrial) end(ctx context.Context) {
	x.Helper()
	for _, node := range x.nodes(ctx, x.path) {
		if !slices.Contains(x.sites, node.Name) {
			x.Errorf("unexpected node %s: the sites are %v", node.Name, x.sites)
		}
		x.must(x.admin.Delete(ctx, x.path+"/"+node.Name, drivers.AnyVersion))
	}
	x.must(x.admin.Delete(ctx, x.path, drivers.AnyVersion))
}

func (x *commitTrial) voter(c *client, site int) *voter {
	return &voter{client: c, Transaction: x.form.Site(c.conn, x.path, x.sites, x.sites[site])}
}

// join has the sites of a new transaction join, and then its coordinator begin. The coordinator
// is nil if the form has none.
func (x *commitTrial) join(ctx context.Context, sites int) (voters []*voter, coordinator *voter) {
	x.Helper()
	x.begin(ctx, sites)
	for i, c := range x.several(ctx, sites) {
		v := x.voter(c, i)
		x.must(v.Join(ctx))
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
	v := &voter{client: x.client(ctx)}
	c := x.form.Coordinator(v.conn, x.path, x.sites)
	v.begin(ctx, func(ctx context.Context) (err error) {
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
		v.begin(ctx, func(ctx context.Context) error { return v.conclude(ctx, true) })
		x.settle(ctx)
	}
}

// waiting fails the case unless all these voters still wait for the decision.
func (x *commitTrial) waiting(ctx context.Context, voters ...*voter) {
	x.Helper()
	x.expectReturned(ctx, false, clientsOf(voters)...)
}

// expectDecision fails the case unless all these voters have made this decision.
func (x *commitTrial) expectDecision(ctx context.Context, commit bool, voters ...*voter) {
	x.Helper()
	voters = slices.DeleteFunc(voters, func(v *voter) bool { return v == nil })
	x.expectReturned(ctx, true, clientsOf(voters)...)
	for i, v := range voters {
		if v.commits != commit {
			x.Errorf("of %d sites, number %d commits: %v, want %v", len(voters), i+1, v.commits, commit)
		}
	}
}

func clientsOf(voters []*voter) []*client {
	clients := make([]*client, len(voters))
	for i, v := range voters {
		clients[i] = v.client
	}
	return clients
}

func commitAll(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	x.waiting(ctx, voters[:3]...)
	x.vote(ctx, voters[3])
	x.expectDecision(ctx, true, append(voters, coordinator)...)
	x.end(ctx)
}

func commitAborted(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[0])
	voters[2].begin(ctx, func(ctx context.Context) error { return voters[2].conclude(ctx, false) })
	x.expectDecision(ctx, false, voters[0], voters[2], coordinator)
	x.vote(ctx, voters[1], voters[3])
	x.expectDecision(ctx, false, voters...)
	x.end(ctx)
}

func commitCanceled(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	voters[1].last().isCanceled(ctx)
	x.vote(ctx, voters[2:]...)
	x.expectDecision(ctx, true, voters[0], voters[2], voters[3], coordinator)
	x.end(ctx)
}

func commitSiteLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	voters[2].close()
	if err := voters[2].Vote(ctx, true); err == nil {
		x.Errorf("a vote without a session returns no error")
	}
	x.vote(ctx, voters[3])
	if !x.form.OwnNodes {
		x.waiting(ctx, voters[0], voters[1], voters[3])
	}
	back := x.voter(x.client(ctx), 2)
	x.must(back.Join(ctx))
	x.vote(ctx, back)
	x.expectDecision(ctx, !x.form.OwnNodes, voters[0], voters[1], back, voters[3], coordinator)
	x.end(ctx)
}

func commitVoterLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:2]...)
	voters[1].close()
	x.settle(ctx)
	voters[1].last().fails(ctx, drivers.ErrSessionLost)
	x.vote(ctx, voters[2:]...)
	x.expectDecision(ctx, true, voters[0], voters[2], voters[3], coordinator)
	x.end(ctx)
}

func commitCoordinatorLost(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	coordinator.close()
	x.settle(ctx)
	coordinator.last().fails(ctx, drivers.ErrSessionLost)
	x.vote(ctx, voters[3])
	x.waiting(ctx, voters...)
	coordinator = x.coordinator(ctx)
	x.expectDecision(ctx, true, append(voters, coordinator)...)
	x.expectDecision(ctx, true, x.coordinator(ctx)) // and again, for another coordinator
	x.end(ctx)
}

func commitCoordinatorCancels(ctx context.Context, x *commitTrial) {
	voters, coordinator := x.join(ctx, 4)
	x.vote(ctx, voters[:3]...)
	coordinator.last().isCanceled(ctx)
	x.vote(ctx, voters[3])
	x.expectDecision(ctx, false, voters...)
	x.end(ctx)
}

func commitAnySchedule(ctx context.Context, x *commitTrial) {
	for seed := range uint64(6) {
		x.compete(ctx, seed, nil)
	}
}

func commitRepliesLost(ctx context.Context, x *commitTrial) {
	for seed := range uint64(6) {
		x.compete(ctx, seed, oneInFive)
	}
}

// commitCreatesLost loses the reply to the first create of each site.
func commitCreatesLost(ctx context.Context, x *commitTrial) {
	var lost atomic.Int64
	x.compete(ctx, 0, func(*rand.Rand) func(drivers.Message) bool {
		fresh := true
		return func(m drivers.Message) bool {
			lose := fresh && m.Op == drivers.OpCreate
			fresh = fresh && !lose
			lost.Add(one(lose))
			return lose
		}
	})
	if lost.Load() != competitors {
		x.Errorf("%d replies to creates were lost, want %d", lost.Load(), competitors)
	}
}

// compete has a number of sites and a coordinator go through a transaction at random times. If the
// seed is odd, one site votes to abort.
func (x *commitTrial) compete(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	x.begin(ctx, competitors)
	commits := seed%2 == 0
	decisions := make([]bool, competitors+1)
	x.concurrently(ctx, competitors+1, seed, lose, func(i int, c *client, rng *rand.Rand) (err error) {
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		if i == competitors {
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
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		err = v.conclude(ctx, commits || i != int(seed)%competitors)
		decisions[i] = v.commits
		return err
	})
	if slices.Contains(decisions, !commits) {
		x.Errorf("seed %d: all vote to commit: %v; the decisions: %v", seed, commits, decisions)
	}
	x.end(ctx)
	x.closeClients()
}
