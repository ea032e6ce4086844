package check

import (
	"fmt"
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// Votes records one transaction: the vote of each site, and the decision that each client
// learned.
//
// All clients must learn the same decision, and it may be commit only when all sites have voted to
// commit. Anything else is a violation, even after a disturbed session. Abort takes a vote to
// abort, or a site that may have died. A vote is recorded before it is cast and a decision after
// it is known, so that every finding is real.
type Votes struct {
	sites int

	mu        sync.Mutex
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

// Vote records the client's vote before it is cast and returns it. If the client voted in an earlier
// session, vote returns that vote.
func (b *Votes) Vote(s Client, commit bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earlier, voted := b.votes[s]; voted {
		return earlier
	}
	b.votes[s] = commit
	b.abort = b.abort || !commit
	return commit
}

// Decided records the decision that the client learned.
func (b *Votes) Decided(s Client, commit bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decisions = append(b.decisions, decision{s, commit, len(b.votes), b.abort})
}

// JudgeVotes adds the findings about the transaction to the safety verdict.
func JudgeVotes(safety *metrics.Safety, b *Votes, disturbed func(Client) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
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
