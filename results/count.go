package results

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/recovery"
)

// A CountReport is what stampede count counted: exactly what each form costs,
// everything at rest between any two steps.
type CountReport struct {
	Head
	Skipped []string  `json:"skipped,omitempty"` // a line each: what was left out and why
	Settled []Settled `json:"settled"`
}

// Settled is what one form cost with one number of clients in one settled run.
type Settled struct {
	Recipe  string  `json:"recipe"`
	Form    string  `json:"form"`
	Family  string  `json:"family"`
	Backend Backend `json:"backend"`
	Clients int     `json:"clients"`
	// Parameters are the other letters of the formulas, e.g. U, and what they
	// stand for.
	Parameters map[string]int64 `json:"parameters,omitempty"`
	// Rounds is how many rounds of the recipe there were.
	Rounds        int64  `json:"rounds"`
	Notifications Exact  `json:"notifications"`
	Reads         Exact  `json:"reads"`
	Writes        Exact  `json:"writes"` // failed ones included
	FailedWrites  Exact  `json:"failed_writes"`
	LargestFanout Exact  `json:"largest_fanout"`
	Safety        Safety `json:"safety"`
}

// Exact is one exact count, what the cost model says, and what the server
// counted itself.
type Exact struct {
	Counted  int64  `json:"counted"`
	Expected *int64 `json:"expected"` // null if the form has no model
	// Most, if set, says that the count is not determined even at rest: it is
	// from Expected to Most.
	Most    *int64 `json:"most,omitempty"`
	Formula string `json:"formula,omitempty"`
	Server  *int64 `json:"server"` // null where the server does not count it
}

// Equal reports whether the count is as expected: exactly, or within its bounds if it has a Most.
func (e Exact) Equal() bool {
	switch {
	case e.Expected == nil:
		return true
	case e.Most == nil:
		return e.Counted == *e.Expected
	}
	return *e.Expected <= e.Counted && e.Counted <= *e.Most
}

// Agreed reports whether the server counted the same. It is true if the server does not count.
func (e Exact) Agreed() bool { return e.Server == nil || *e.Server == e.Counted }

func (s Settled) Exacts() []Exact {
	return []Exact{s.Notifications, s.Reads, s.Writes, s.FailedWrites, s.LargestFanout}
}

// Names reports whether a formula of the row contains the letter.
func (s Settled) Names(letter string) bool {
	return slices.ContainsFunc(s.Exacts(), func(e Exact) bool { return strings.Contains(e.Formula, letter) })
}

// Differs reports whether any count differs from the model, in either direction, or from the
// server's own count.
func (s Settled) Differs() bool {
	return slices.ContainsFunc(s.Exacts(), func(e Exact) bool { return !e.Equal() || !e.Agreed() })
}

// AllPaths is the subject of figures of a whole observation.
const AllPaths = "all paths"

// An Observation is what other programs' traffic did to a service. It has no node data, no
// credentials and no arguments of the command that was run.
type Observation struct {
	Head
	Backend string `json:"backend"` // URL, without credentials
	Source  string `json:"source"`  // "proxy" or "capture file"; of earlier versions also "interface"
	// Program is the program around which traffic was observed, and Exit its exit code; null
	// without one.
	Program *string `json:"program"`
	Exit    *int    `json:"exit"`
	// Signal is the signal that ended the program, whose exit code is then 128 and its number, as in a shell.
	Signal   *string            `json:"signal,omitempty"`
	Observed observation.Report `json:"observed"`
	// Faults are those that were asked for, one a line of stampede help faults, and Recovery is how the program
	// came back from those that were injected; null without any.
	Faults   []string         `json:"faults,omitempty"`
	Recovery *recovery.Report `json:"recovery,omitempty"`
	// Unreached are the servers that the proxy could not connect clients to.
	Unreached []traffic.Unreached `json:"unreached,omitempty"`
	// Projected is the number of clients of the projection; 0 without one.
	Projected int     `json:"projected_clients"`
	Gates     []Gate  `json:"gates"`
	Verdict   Verdict `json:"verdict"` // the worst of the gates; "" without gates
}
