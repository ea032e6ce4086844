package observe

import "time"

// Churn says how many sessions the clients opened and closed. Sessions that were open before the
// observation are left out, and those of services that report none.
type Churn struct {
	Opened     int64 `json:"opened"`
	Closed     int64 `json:"closed"`
	ShortLived int64 `json:"short_lived"`   // closed before their time-out had passed once
	MostAtOnce int64 `json:"most_sessions"` // of all sessions, those that were open at once
}

// closed counts a session that its client has closed. One that expires has lived for its time-out.
func (c *Churn) closed(at time.Time, s *session) {
	if s.opened.IsZero() {
		return
	}
	c.Closed++
	if at.Sub(s.opened) < s.timeout {
		c.ShortLived++
	}
}

func (c Churn) report(a *Analysis) Churn {
	c.MostAtOnce = a.all.mostSessions
	return c
}
