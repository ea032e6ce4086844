package observe

import "time"

// Project returns how many sessions a change of the place wakes now and would wake if n clients
// used it, and how long they would take to settle. A herd wakes the same share of the
// sessions; any other form that gives turns wakes as many as now. It returns false for a place
// without a form or without a change.
func (p Place) Project(n int) (now, then int64, settled time.Duration, ok bool) {
	if p.Form == nil || p.Changes == 0 || p.Sessions == 0 || p.FanoutMax == 0 {
		return 0, 0, 0, false
	}
	now, then = p.FanoutMax, p.FanoutMax
	grows := p.Form.Herd || p.Form.kind == news
	if grows && p.Sessions > 1 {
		// A session that holds or has changed the node is not woken by itself.
		own := int64(p.Sessions) - min(p.FanoutMax, int64(p.Sessions))
		then = max(now, int64(n)-own)
	}
	if p.SettledP90 != nil {
		settled = time.Duration(float64(*p.SettledP90) * float64(then) / float64(now))
	}
	return now, then, settled, true
}
