package check

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// A Barrier checks a point of one round that no client may pass before the clients that it waits for
// have arrived.
//
// Both events are recorded so that every finding is real: a client has arrived before the call that
// announces it to the service, and has passed after the call that waited has returned. Early clients
// are judged when the round is over. If a session was disturbed it may have been lost, and the
// service no longer waits for a lost session: passing early is then a belief overlap. Otherwise it
// is a violation.
type Barrier struct {
	need  int    // how many clients must arrive
	early string // what a client did that passed too early, for messages

	arrived []Client // in order of arrival
	passed  []passage
}

// A passage is a client that passed the barrier, and how many clients had arrived by then.
type passage struct {
	client  Client
	arrived int
}

func NewBarrier(need int, early string) *Barrier { return &Barrier{need: need, early: early} }

// Arrive records that the client has arrived. Arriving again changes nothing.
func (g *Barrier) Arrive(s Client) {
	if !slices.Contains(g.arrived, s) {
		g.arrived = append(g.arrived, s)
	}
}

// Pass records that the client has passed the barrier.
func (g *Barrier) Pass(s Client) { g.passed = append(g.passed, passage{s, len(g.arrived)}) }

// Judge adds the barrier's findings to the safety verdict. awaits reports whether the barrier holds client
// s until other has arrived.
func (g *Barrier) Judge(safety *metrics.Safety, awaits func(s, other Client) bool, disturbed func(Client) bool) {
	for _, p := range g.passed {
		safety.Checked++
		// in an abandoned round, the barrier does not know which clients never arrived
		early, excused := len(g.arrived) < g.need, disturbed(p.client)
		for _, missing := range g.arrived[p.arrived:] {
			if awaits(p.client, missing) {
				early, excused = true, excused || disturbed(missing)
			}
		}
		if early {
			AddFinding(safety, excused, fmt.Sprintf("client %d %s", p.client.Number(), g.early))
		}
	}
}

// AllClients is the awaits function of a barrier that holds every client until all have arrived.
func AllClients(_, _ Client) bool { return true }

// AddFinding counts a wrong observation: as a belief overlap if a disturbed session excuses it,
// otherwise as a violation.
func AddFinding(safety *metrics.Safety, excused bool, what string) {
	verdict, count := "violation", &safety.Violations
	if excused {
		verdict, count = "belief overlap after a disturbed session", &safety.BeliefOverlaps
	}
	*count++
	addDetail(safety, verdict+": "+what)
}

// MaxDetails bounds how many details are kept of a form that breaks its guarantees again and
// again.
const MaxDetails = 10

func addDetail(safety *metrics.Safety, text string) {
	if len(safety.Details) < MaxDetails {
		safety.Details = append(safety.Details, text)
	}
}

// Votes records one transaction: the vote of each site, and the decision that each client
// learned.
//
// All clients must learn the same decision, and it may be commit only when all sites have voted to
// commit. Anything else is a violation, even after a disturbed session. Abort takes a vote to
// abort, or a site that may have died. A vote is recorded before it is cast and a decision after
// it is known, so that every finding is real.
type Votes struct {
	sites     int
	votes     map[Client]bool
	abort     bool // at least one site wants to abort
	decisions []decision
}

// A decision is what one client learned, and the state of the votes at that moment.
type decision struct {
	seat   Client
	commit bool
	votes  int
	abort  bool // at least one site wanted to abort
}

func NewVotes(sites int) *Votes {
	return &Votes{sites: sites, votes: make(map[Client]bool)}
}

// Vote records the client's vote before it is cast. Its first vote stands.
func (b *Votes) Vote(s Client, commit bool) {
	if _, voted := b.votes[s]; !voted {
		b.votes[s] = commit
		b.abort = b.abort || !commit
	}
}

// Decided records the decision that the client learned.
func (b *Votes) Decided(s Client, commit bool) {
	b.decisions = append(b.decisions, decision{s, commit, len(b.votes), b.abort})
}

// JudgeVotes adds the findings about the transaction to the safety verdict.
func JudgeVotes(safety *metrics.Safety, b *Votes, disturbed func(Client) bool) {
	died := false
	for s := range b.votes {
		died = died || disturbed(s)
	}
	for _, d := range b.decisions {
		safety.Checked++
		client := fmt.Sprintf("client %d ", d.seat.Number())
		switch {
		case d.commit != b.decisions[0].commit:
			AddFinding(safety, false, client+"decided otherwise than another client")
		case d.commit && d.abort:
			AddFinding(safety, false, client+"committed although a site voted to abort")
		case d.commit && d.votes < b.sites:
			AddFinding(safety, false, client+"committed before all sites voted")
		case !d.commit && !d.abort && !died && !disturbed(d.seat):
			AddFinding(safety, false, client+"aborted although no site voted to abort")
		}
	}
}
