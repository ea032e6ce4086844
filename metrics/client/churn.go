package client

import "time"

// Churn says how many sessions the clients opened and closed. Sessions that were open before the
// observation are left out. Those of etcd are leases: a client may have several.
type Churn struct {
	Opened     int64 `json:"opened"`
	Closed     int64 `json:"closed"`
	ShortLived int64 `json:"short_lived"`   // closed before their time-out had passed once
	MostAtOnce int64 `json:"most_sessions"` // of all sessions, those that were open at once
}

// Short sessions matter if clients replace them again and again: more than half are closed before
// their time-out has passed once, and turnover times as many were opened as were open at once. A
// program that opens many sessions and ends opens each once. Fewer than minOpened, or than openRate a second,
// cost little: a test suite opens one for each test.
const (
	minOpened = 20
	openRate  = 10
	turnover  = 4
)

// Heavy reports whether clients replace their sessions again and again, in an observation of that length.
func (c Churn) Heavy(length time.Duration) bool {
	return c.Opened >= minOpened && float64(c.Opened) >= openRate*length.Seconds() && c.Opened >= turnover*c.MostAtOnce &&
		c.ShortLived*2 > c.Closed
}

// End counts a session that its client has closed after it lived for a time. One that expires has lived for its
// time-out.
func (c *Churn) End(lived, timeout time.Duration) {
	c.Closed++
	if lived < timeout {
		c.ShortLived++
	}
}

// Rearming says how many watches the clients armed again within a second of a reconnect. Those of a
// packet that sets watches again are the ones that the session had.
type Rearming struct {
	Reconnects int64 `json:"reconnects"` // after which watches were armed again
	Watches    int64 `json:"watches"`
	// A second begins with the first reconnect that comes after the last such second.
	MostReconnects int64 `json:"most_reconnects"` // in one second
	MostWatches    int64 `json:"most_watches"`    // in one second
}

// Fewer reconnects in a second than minReconnects are clients that lose their connections one by one;
// fewer watches than minRearmed are set again with a packet or two.
const (
	minReconnects = 10
	minRearmed    = 1000
)

// Storm reports whether many sessions armed many watches again within one second.
func (r Rearming) Storm() bool {
	return r.MostReconnects >= minReconnects && r.MostWatches >= minRearmed
}

// Rearmings adds up a [Rearming]. The zero value is empty.
type Rearmings struct {
	Sum                 Rearming
	from                time.Time // of the current second
	reconnects, watches int64     // in it
}

// Add adds watches that a client arms again; first is true of the first after its reconnect.
func (r *Rearmings) Add(at time.Time, first bool, watches int64) {
	if r.from.IsZero() || at.Sub(r.from) >= time.Second {
		r.from, r.reconnects, r.watches = at, 0, 0
	}
	if first {
		r.Sum.Reconnects++
		r.reconnects++
	}
	r.Sum.Watches += watches
	r.watches += watches
	r.Sum.MostReconnects = max(r.Sum.MostReconnects, r.reconnects)
	r.Sum.MostWatches = max(r.Sum.MostWatches, r.watches)
}
