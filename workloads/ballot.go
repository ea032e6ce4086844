package workloads

import (
	"fmt"
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// A ballot records one transaction: the vote of each site, and the decision that each seat
// learned.
//
// All seats must learn the same decision, and it may be commit only when all sites have voted to
// commit. Anything else is a violation, even after a disturbed session. Abort takes a vote to
// abort, or a site that may have died. A vote is recorded before it is cast and a decision after
// it is known, so that every finding is real.
type ballot struct {
	sites int

	mu        sync.Mutex
	votes     map[*Seat]bool
	abort     bool // at least one site wants to abort
	decisions []decision
}

// A decision is what one seat learned, and the state of the votes at that moment.
type decision struct {
	seat   *Seat
	commit bool
	votes  int
	abort  bool // at least one site wanted to abort
}

func newBallot(sites int) *ballot {
	return &ballot{sites: sites, votes: make(map[*Seat]bool)}
}

// vote records the seat's vote before it is cast and returns it. If the seat voted in an earlier
// session, vote returns that vote.
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

// decided records the decision that the seat learned.
func (b *ballot) decided(s *Seat, commit bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decisions = append(b.decisions, decision{s, commit, len(b.votes), b.abort})
}

// judgeBallot adds the findings about the transaction to the safety verdict.
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
