package check

import (
	"maps"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// A RoundJudge judges rounds by the steps of all clients. It takes them in the order of [Ordered] or as
// they happen, and remembers the rounds that have not ended.
type RoundJudge[T any] struct {
	Slots int // how many slots take part in a round
	// Share creates the state of a round, and Apply applies a client's step to it.
	Share func() *T
	Apply func(share *T, c Client, s TimedStep)
	// Judge adds the findings of a round that is over to the safety verdict. disturbed reports
	// whether a client's session was disturbed during the round.
	Judge func(s *metrics.Safety, share *T, disturbed func(Client) bool)

	mu     sync.Mutex
	active map[int64]*judgedRound[T] // by turn
	safety metrics.Safety
}

// A judgedRound is a round that has not ended.
type judgedRound[T any] struct {
	share     *T
	left      int
	disturbed map[Client]bool
}

// Take takes the next step.
func (j *RoundJudge[T]) Take(s TimedStep) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.active[s.Turn]
	if now == nil {
		if j.active == nil {
			j.active = map[int64]*judgedRound[T]{}
		}
		now = &judgedRound[T]{share: j.Share(), disturbed: map[Client]bool{}}
		j.active[s.Turn] = now
	}
	client := Replayed(s.Client)
	if s.Kind != Left {
		j.Apply(now.share, client, s)
		return
	}
	now.disturbed[client] = s.Disturbed
	if now.left++; now.left == j.Slots {
		j.end(s.Turn)
	}
}

func (j *RoundJudge[T]) end(turn int64) {
	now := j.active[turn]
	delete(j.active, turn)
	j.Judge(&j.safety, now.share, func(c Client) bool { return now.disturbed[c] })
}

// TakeAll takes the steps of all processes and returns the findings.
func (j *RoundJudge[T]) TakeAll(steps []TimedStep) metrics.Safety {
	for _, s := range Ordered(steps) {
		j.Take(s)
	}
	return j.Verdict()
}

// Verdict also judges the rounds that never ended, and returns all findings.
func (j *RoundJudge[T]) Verdict() metrics.Safety {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, turn := range slices.Sorted(maps.Keys(j.active)) {
		j.end(turn)
	}
	return j.safety
}
