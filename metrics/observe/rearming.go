package observe

import "time"

// Rearming says how many watches the clients armed again within a second of a reconnect. Those of a
// packet that sets watches again are the ones that the session had.
type Rearming struct {
	Reconnects int64 `json:"reconnects"` // after which watches were armed again
	Watches    int64 `json:"watches"`
	// A second begins with the first reconnect that comes after the last such second.
	MostReconnects int64 `json:"most_reconnects"` // in one second
	MostWatches    int64 `json:"most_watches"`    // in one second
}

// soon is how long after a reconnect a client arms its watches again.
const soon = time.Second

// rearming is what a session has armed again since it reconnected.
type rearming struct {
	since time.Time // the latest reconnect, zero without one
	all   bool      // a packet has set all watches
	n     int       // watches
}

// rearmings adds up.
type rearmings struct {
	report              Rearming
	from                time.Time // of the current second
	reconnects, watches int64     // in it
}

func (r *rearmings) add(at time.Time, first bool, watches int64) {
	if r.from.IsZero() || at.Sub(r.from) >= time.Second {
		r.from, r.reconnects, r.watches = at, 0, 0
	}
	if first {
		r.report.Reconnects++
		r.reconnects++
	}
	r.report.Watches += watches
	r.watches += watches
	r.report.MostReconnects = max(r.report.MostReconnects, r.reconnects)
	r.report.MostWatches = max(r.report.MostWatches, r.watches)
}

// rearmedAll counts a packet that sets the watches again. A client may need several.
func (s *session) rearmedAll(a *Analysis) {
	r := &s.rearming
	rest := len(s.watches) - r.n
	if !r.recent(a.now) || r.all || rest <= 0 {
		return
	}
	first := r.n == 0
	r.all, r.n = true, len(s.watches)
	a.all.rearming.add(a.now, first, int64(rest))
}

// rearmedOne counts a watch that the session had and has asked for again.
func (s *session) rearmedOne(a *Analysis) {
	r := &s.rearming
	if !r.recent(a.now) || r.all || r.n >= len(s.watches) {
		return
	}
	r.n++
	a.all.rearming.add(a.now, r.n == 1, 1)
}

func (r *rearming) recent(now time.Time) bool { return !r.since.IsZero() && now.Sub(r.since) <= soon }
