package observation

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

// WriteText writes the observation for a terminal: findings, verdicts of thresholds, the table of
// places, operations, and the projection.
func WriteText(w io.Writer, f results.Observation, o view.Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", Heading(f))
	for _, s := range Findings(f) {
		o.Emphasize(&b, s)
	}
	for _, table := range append(Thresholds(f), Tables(f)...) {
		fmt.Fprintln(&b)
		table.Write(&b, o)
	}
	if f.Program != nil {
		fmt.Fprintf(&b, "\n  %s ended with exit code %d\n", *f.Program, *f.Exit)
	}
	if o.Saved != "" {
		fmt.Fprintf(&b, "\n  saved: %s\n", o.Saved)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Heading names the observed service and the extent of the traffic in one line.
func Heading(f results.Observation) string {
	return fmt.Sprintf("stampede observe · %s by %s · %s · %s, %s · %s requests%s", f.Backend, f.Source,
		units.Duration(f.Observed.Duration), units.Plural(int(f.Observed.Traffic.Sessions), "session"),
		units.Plural(f.Observed.Traffic.Clients, "client host"), units.Count(f.Observed.Traffic.Requests), losses(f))
}

// losses describes the traffic that was not analysed.
func losses(f results.Observation) string {
	var all []string
	if f.Dropped+f.Observed.Traffic.GapBytes > 0 {
		all = append(all, units.Bytes(f.Dropped+f.Observed.Traffic.GapBytes)+" were not analysed")
	}
	if f.PacketsDropped > 0 {
		all = append(all, units.Plural(int(f.PacketsDropped), "packet")+" dropped by the kernel")
	}
	if n := f.Observed.Traffic.Joined; n > 0 {
		all = append(all, units.Plural(int(n), "connection")+" joined in the middle")
	}
	if n := f.Observed.Traffic.Unfollowed; n > 0 {
		all = append(all, units.Plural(int(n), "watch")+" not followed")
	}
	all = append(all, beyond(f.Observed.Traffic.Beyond)...)
	if len(all) == 0 {
		return ""
	}
	return " · " + strings.Join(all, ", ")
}

// beyond says what was observed beyond the limits of what is kept.
func beyond(b observe.Beyond) (all []string) {
	for _, of := range []struct {
		n         int64
		one, then string
	}{
		{b.Connections, "connection", " not followed"}, {b.Sessions, "session", " not followed"},
		{b.Nodes, "node", " not followed"}, {b.Requests, "request", " not followed"},
		{b.Paths, "message", " with too long a path"},
		{b.Early, "change", " or notifications decided early"},
	} {
		if of.n > 0 {
			all = append(all, units.Plural(int(of.n), of.one)+of.then)
		}
	}
	return all
}

// Findings returns sentences for each herd and for what else costs the servers, and otherwise one for the
// whole.
func Findings(f results.Observation) (all []string) {
	for _, p := range f.Observed.Places {
		if p.Form == nil || !p.Form.Herd || p.FanoutMax < 2 {
			continue
		}
		all = append(all, fmt.Sprintf("HERD: one change of %s wakes up to %s of %s.", p.Path,
			units.Count(p.FanoutMax), units.Plural(p.Sessions, "session")),
			fmt.Sprintf("  %s: %s.", p.Form.Name, p.Form.Evidence))
		if p.Form.Wakes > 0 {
			all = append(all, fmt.Sprintf("  With the form %q a change would wake %s.", p.Form.Instead, units.Count(p.Form.Wakes)))
		}
	}
	all = append(all, polling(f.Observed)...)
	all = append(all, rearmStorm(f.Observed)...)
	all = append(all, churn(f.Observed)...)
	all = append(all, standing(f.Observed)...)
	for _, p := range f.Observed.Places {
		if p.Form == nil && p.FanoutMax > 1 && 2*p.FanoutMax >= int64(p.Sessions) {
			all = append(all, fmt.Sprintf("NOT KNOWN: one change of %s wakes up to %s of %s; its form is not recognised.",
				p.Path, units.Count(p.FanoutMax), units.Plural(p.Sessions, "session")))
		}
	}
	t := f.Observed.Traffic
	switch {
	case len(all) > 0:
		return all
	case t.Requests == 0:
		return []string{"No request was observed."}
	case t.Changes == 0:
		return []string{"No change woke a session."}
	}
	return []string{fmt.Sprintf("No herd: a change wakes %s at the median and at most %s.",
		units.Plural(int(t.FanoutP50), "session"), units.Count(t.FanoutMax))}
}
