package check

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// Returns checks one outage: that each client comes back exactly once, and that then each has one registration, the
// one of its new session, and nothing else is registered.
type Returns struct {
	clients    int
	back       map[int][]string // the names of the registrations that a client has made, in this outage
	gaveUp     map[int]bool
	disturbed  map[int]bool // clients whose new session was disturbed before all registrations were listed
	registered []string
	listed     bool
}

// NewReturns returns the check of an outage of this many clients.
func NewReturns(clients int) *Returns {
	return &Returns{clients: clients, back: map[int][]string{}, gaveUp: map[int]bool{}, disturbed: map[int]bool{}}
}

// Back records that a client has connected and registered itself under the name.
func (r *Returns) Back(client int, name string) { r.back[client] = append(r.back[client], name) }

// GaveUp records that a client no longer tries to come back.
func (r *Returns) GaveUp(client int) { r.gaveUp[client] = true }

// Disturbed records that the client's new session was disturbed, so that its registration may be gone.
func (r *Returns) Disturbed(client int) { r.disturbed[client] = true }

// Registered records what is registered when every client has said that it is back.
func (r *Returns) Registered(names []string) { r.registered, r.listed = names, true }

// Judge adds the findings to the safety verdict. Of an outage that was abandoned, it only checks that no client has
// come back twice or given up.
func (r *Returns) Judge(safety *metrics.Safety) {
	known := 0
	for client := range r.clients {
		safety.Checked++
		for _, name := range r.registered {
			if slices.Contains(r.back[client], name) {
				known++
			}
		}
		if wrong := r.wrong(client); wrong != "" && (r.gaveUp[client] || !r.disturbed[client]) {
			AddFinding(safety, false, fmt.Sprintf("client %d %s", client+1, wrong))
		}
	}
	if stray := len(r.registered) - known; stray > 0 && len(r.disturbed) == 0 {
		AddFinding(safety, false, fmt.Sprintf("%d of %d registrations are of no new session", stray, len(r.registered)))
	}
}

// wrong says what is wrong with a client's return; "" if nothing is.
func (r *Returns) wrong(client int) string {
	names := r.back[client]
	there := 0
	for _, name := range names {
		if slices.Contains(r.registered, name) {
			there++
		}
	}
	switch {
	case r.gaveUp[client]:
		return "gave up"
	case len(names) > 1 && there > 1:
		return fmt.Sprintf("came back %d times and is registered %d times", len(names), there)
	case len(names) > 1:
		return fmt.Sprintf("came back %d times", len(names))
	case !r.listed:
		return ""
	case len(names) == 0:
		return "said that it was back and had not connected"
	case there == 0:
		return "is back and is not registered"
	}
	return ""
}
