package workloads

import (
	"fmt"
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// A ballot is one transaction: what each site wants, and what each seat took for
// decided.
//
// All must decide alike, and commit only when all have voted to commit: those are
// violations whatever became of a session. To abort takes a vote to abort, or a
// site that may have died. A vote is marked before it is given and a decision
// when it is known, so that what is seen was real.
type ballot struct {
	sites int

	mu        sync.Mutex
	votes     map[*Seat]bool
	abort     bool // somebody wants to abort
	decisions []decision
}

// A decision is what one seat took for decided when so many had voted.
type decision struct {
	seat   *Seat
	commit bool
	votes  int
	abort  bool // somebody wanted to abort
}

func newBallot(sites int) *ballot {
	return &ballot{sites: sites, votes: make(map[*Seat]bool)}
}

// vote notes what the seat is about to vote, and returns it, or what it voted in
// an earlier session.
func (b *ballot) vote(s *Seat, commit bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earlier, voted := b.votes[s]; voted {
		return earlier
	}
	b.votes[s] = commit
	b.abort = b.abort || !commit
	return commit
}

// decided notes what the seat has learnt.
func (b *ballot) decided(s *Seat, commit bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decisions = append(b.decisions, decision{s, commit, len(b.votes), b.abort})
}

// judgeBallot adds to the safety what became of the transaction.
func judgeBallot(safety *metrics.Safety, b *ballot, disturbed func(*Seat) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	died := false
	for s := range b.votes {
		died = died || disturbed(s)
	}
	for _, d := range b.decisions {
		safety.Checked++
		who := fmt.Sprintf("client %d ", d.seat.Index+1)
		switch {
		case d.commit != b.decisions[0].commit:
			wrong(safety, false, who+"decided otherwise than another one")
		case d.commit && d.abort:
			wrong(safety, false, who+"committed though somebody had voted to abort")
		case d.commit && d.votes < b.sites:
			wrong(safety, false, who+"committed before all had voted")
		case !d.commit && !d.abort && !died && !disturbed(d.seat):
			wrong(safety, false, who+"aborted though nobody had voted to")
		}
	}
}
