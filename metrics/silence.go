package metrics

import "time"

// A Silence finds for how long no round of a run has ended although a client waits for an answer of its service, or for a
// connection. A service that answers some clients, or only heartbeats, is not silent as long as rounds end. It is not safe for
// concurrent use.
type Silence struct {
	now      time.Time // of the latest look
	rounds   int64
	progress time.Time // when a look found that more rounds had ended
	clients  []unanswered
}

// An unanswered says since when a client has waited.
type unanswered struct {
	answers int64     // that the client had got at the latest look
	since   time.Time // zero if it does not wait
}

// NewSilence returns the silence of a run that begins now.
func NewSilence(clients int) Silence {
	now := time.Now()
	return Silence{now: now, progress: now, clients: make([]unanswered, clients)}
}

// Look begins a look at all clients, when this number of rounds has ended.
func (s *Silence) Look(now time.Time, rounds int64) {
	if s.now = now; rounds != s.rounds {
		s.rounds, s.progress = rounds, now
	}
}

// Client tells whether a client waits, and how many answers it has got. Requests that a broken connection cut off count as
// answered, so that only a client with a connection has got one when their number has changed.
func (s *Silence) Client(i int, waits, connected bool, answers int64) {
	c := &s.clients[i]
	switch {
	case !waits || connected && answers != c.answers:
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = s.now
	}
	c.answers = answers
}

// Length returns the silence at the latest look.
func (s *Silence) Length() time.Duration {
	first := s.now
	for _, c := range s.clients {
		if !c.since.IsZero() && c.since.Before(first) {
			first = c.since
		}
	}
	if first.Before(s.progress) {
		first = s.progress
	}
	return s.now.Sub(first)
}
