package recipe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/parallel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Transaction is one site's part in a two-phase commit.
type Transaction interface {
	// Join starts following the transaction.
	Join(ctx context.Context) error
	// Vote casts the site's vote. A site's first vote stands.
	Vote(ctx context.Context, commit bool) error
	// Decision blocks until the decision is made, and returns it.
	Decision(ctx context.Context) (commit bool, err error)
}

// A Coordinator decides a two-phase commit.
type Coordinator interface {
	// Coordinate blocks until the coordinator has decided.
	Coordinate(ctx context.Context) (commit bool, err error)
}

// A NewSite creates the part of the site named mine in the transaction at path.
type NewSite func(c drivers.Conn, path string, sites []string, mine string) Transaction

// A NewCoordinator creates the coordinator of the transaction at path.
type NewCoordinator func(c drivers.Conn, path string, sites []string) Coordinator

// A Protocol is how sites and, if there is one, a coordinator take part in a transaction. The
// transaction's node exists.
type Protocol struct {
	Site NewSite
	// Coordinator is nil where the sites decide themselves.
	Coordinator NewCoordinator
	// OwnNodes: each site creates its own node. Otherwise the transaction's node has an empty
	// child with the name of each site from the beginning.
	OwnNodes bool
}

// Coordinated returns the protocol of sites with a coordinator.
func Coordinated[T Transaction, C Coordinator](
	site func(c drivers.Conn, path string, sites []string, mine string) T,
	coordinator func(c drivers.Conn, path string, sites []string) C,
) Protocol {
	p := Uncoordinated(site)
	p.Coordinator = func(c drivers.Conn, path string, sites []string) Coordinator { return coordinator(c, path, sites) }
	return p
}

// Uncoordinated returns the protocol of sites that decide by themselves.
func Uncoordinated[T Transaction](
	site func(c drivers.Conn, path string, sites []string, mine string) T,
) Protocol {
	return Protocol{Site: func(c drivers.Conn, path string, sites []string, mine string) Transaction {
		return site(c, path, sites, mine)
	}}
}

// WithOwnNodes returns the protocol in which each site creates its own node.
func (p Protocol) WithOwnNodes() Protocol {
	p.OwnNodes = true
	return p
}

// TwoPhaseCommits returns the workload constructor for a form of two-phase commit. Each client is
// a site. In each round all sites join one transaction, work on it for the hold, vote, and wait
// for the decision. The coordinator is not a client and has its own session. Creating the
// transaction's nodes is not counted.
func TwoPhaseCommits(p Protocol) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		w := &commitWorkload{hold: s.HoldTime(), abortRate: s.AbortShare(), protocol: p,
			vote: s.Latency("vote"), decide: s.Latency("decide")}
		// First the phase in which a site waits. The vote is one write in every form.
		w.gathering = gather(s, 0, w.decide, w.vote)
		w.perClient = true
		return w
	}
}

type commitWorkload struct {
	gathering
	hold      time.Duration
	abortRate float64
	protocol  Protocol
	sites     []string
	rounds    workloads.Rounds
	judge     *check.RoundJudge[check.Votes]
	voted     []castVote       // by site: its vote in its last round
	vote      *metrics.Latency // from the call until the vote is written
	decide    *metrics.Latency // from the written vote until a site knows the decision
}

// A castVote is the vote of a site in a round.
type castVote struct {
	round  *workloads.Round
	commit bool
}

func (w *commitWorkload) Attach(admin drivers.Conn, base string, clients int) {
	w.clients, w.voted = clients, make([]castVote, clients)
	for i := range clients {
		w.sites = append(w.sites, fmt.Sprintf("site-%d", i+1))
	}
	w.judge = w.newJudge(clients)
	w.rounds = workloads.Rounds{Admin: admin, PathPrefix: base + "/transaction-", Slots: w.judge.Slots,
		Create: w.create, Exchange: w.exchange, Steps: w.recorded}
	w.recorded.JudgeBy(w.judge.Take)
}

func (w *commitWorkload) Setup(ctx context.Context, _ drivers.Conn) error {
	return w.rounds.CreateFirst(ctx)
}

func (w *commitWorkload) create(ctx context.Context, c drivers.Conn, path string) error {
	if err := createPath(ctx, c, path); err != nil || w.protocol.OwnNodes {
		return err
	}
	return parallel.ForEach(len(w.sites), func(i int) error { return createPath(ctx, c, path+"/"+w.sites[i]) })
}

// Judge judges the decisions by the votes.
func (w *commitWorkload) Judge(g divided.Gathered) divided.Findings {
	safety := w.newJudge(g.Clients).TakeAll(g.Steps)
	return divided.Findings{Safety: &safety}
}

func (w *commitWorkload) newJudge(clients int) *check.RoundJudge[check.Votes] {
	slots := clients
	if w.Leads() {
		slots++
	}
	return &check.RoundJudge[check.Votes]{
		Slots: slots,
		Share: func() *check.Votes { return check.NewVotes(clients) },
		Apply: func(v *check.Votes, c check.Client, s check.TimedStep) {
			switch s.Kind {
			case check.Voted:
				v.Vote(c, s.Value == 1)
			case check.Decided:
				v.Decided(c, s.Value == 1)
			}
		},
		Judge: check.JudgeVotes,
	}
}

// Leads reports whether there is a coordinator.
func (w *commitWorkload) Leads() bool { return w.protocol.Coordinator != nil }

func (w *commitWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	if s.Index == len(w.sites) {
		return &commitCoordinator{w, s}, nil
	}
	return &commitSite{w, s}, nil
}

func (w *commitWorkload) Verdict() metrics.Safety {
	w.rounds.End()
	return w.judge.Verdict()
}

// Settle lets all sites join, one at a time. Then the coordinator begins, if there is one, and all
// sites vote to commit, one at a time.
func (w *commitWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	sites := make([]*siteRound, len(w.sites))
	for i := range sites {
		s := &commitSite{w, st.Slots[i]}
		if err := st.Do(ctx, i, "joins", "", func(ctx context.Context) (err error) {
			sites[i], err = s.join(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	if slices.Contains(sites, nil) {
		return errors.New("a site waits before it has voted")
	}
	if w.Leads() {
		c := &commitCoordinator{w, st.Slots[len(sites)]}
		if err := st.Do(ctx, len(sites), "coordinates", "has decided", c.coordinate); err != nil {
			return err
		}
	}
	for i, s := range sites {
		if err := st.Do(ctx, i, "votes to commit", "commits", func(ctx context.Context) error { return s.conclude(ctx, true) }); err != nil {
			return err
		}
	}
	return nil
}

// A commitSite is a client that takes part in the transaction of each round.
type commitSite struct {
	*commitWorkload
	slot *workloads.Slot
}

func (s *commitSite) Turn(ctx context.Context) (int64, error) {
	r, err := s.join(ctx)
	if err != nil {
		return 0, err
	}
	s.slot.Hold(ctx, s.hold)
	if err := r.conclude(ctx, s.wants()); err != nil {
		return 0, err
	}
	return s.rounds.Finish(ctx, s.slot)
}

// wants chooses a vote at random. With n sites, each votes to commit with the probability
// (1−abortRate)^(1/n), so that the share of transactions with a vote to abort is abortRate.
func (s *commitSite) wants() (commit bool) {
	return s.slot.Rand.Float64() < math.Pow(1-s.abortRate, 1/float64(len(s.sites)))
}

// A siteRound is a site's part in one round.
type siteRound struct {
	*commitSite
	round       *workloads.Round
	transaction Transaction
}

func (s *commitSite) join(ctx context.Context) (*siteRound, error) {
	r, err := s.rounds.Join(ctx, s.slot)
	if err != nil {
		return nil, err
	}
	t := s.protocol.Site(s.slot.Conn, r.Path, s.sites, s.sites[s.slot.Index])
	if err := t.Join(ctx); err != nil {
		return nil, err
	}
	return &siteRound{s, r, t}, nil
}

// conclude votes and waits for the decision.
func (r *siteRound) conclude(ctx context.Context, commit bool) error {
	if v := &r.voted[r.slot.Index]; v.round == r.round { // in an earlier session
		commit = v.commit
	} else {
		*v = castVote{r.round, commit}
	}
	r.rounds.Note(r.round, r.slot, time.Now(), check.Step{Kind: check.Voted, Value: vote(commit)})
	r.slot.Marks.PhaseBegin()
	began := time.Now()
	err := r.transaction.Vote(ctx, commit)
	voted := time.Now()
	if err == nil {
		commit, err = r.transaction.Decision(ctx)
	}
	now := time.Now()
	r.slot.Marks.PhaseEnd()
	if err != nil {
		return err
	}
	r.rounds.Note(r.round, r.slot, now, check.Step{Kind: check.Decided, Value: vote(commit)})
	r.rounds.Record(r.vote, r.round, r.slot, voted, voted.Sub(began))
	r.rounds.Record(r.decide, r.round, r.slot, now, now.Sub(voted))
	return nil
}

// vote returns a vote, or a decision, as a number.
func vote(commit bool) int64 {
	if commit {
		return 1
	}
	return 0
}

// A commitCoordinator decides the transaction of each round.
type commitCoordinator struct {
	*commitWorkload
	slot *workloads.Slot
}

func (c *commitCoordinator) Turn(ctx context.Context) (int64, error) {
	if err := c.coordinate(ctx); err != nil {
		return 0, err
	}
	return c.rounds.Finish(ctx, c.slot)
}

func (c *commitCoordinator) coordinate(ctx context.Context) error {
	r, err := c.rounds.Join(ctx, c.slot)
	if err != nil {
		return err
	}
	commit, err := c.protocol.Coordinator(c.slot.Conn, r.Path, c.sites).Coordinate(ctx)
	if err == nil {
		c.rounds.Note(r, c.slot, time.Now(), check.Step{Kind: check.Decided, Value: vote(commit)})
	}
	return err
}
