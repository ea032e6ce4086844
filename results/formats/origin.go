package formats

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/view"
)

// An origin is where a result comes from.
type origin struct {
	id      string
	started time.Time
	tool    results.Tool
	host    results.Host
	seed    uint64
}

func originOf(v results.Result) origin {
	switch v := v.(type) {
	case results.File:
		return origin{v.ID, v.Started, v.Tool, v.Host, v.Seed}
	case results.Sweep:
		return originOf(v.File)
	case results.CountReport:
		return origin{id: v.ID, started: v.Started, tool: v.Tool, host: v.Host}
	case results.History:
		return origin{started: v.Made, tool: v.Tool}
	case results.Comparison:
		return origin{v.ID, v.Started, v.Tool, v.Host, v.Seed}
	}
	return origin{}
}

// timestamp formats the start of the result for JUnit: in UTC, without a zone.
func timestamp(v results.Result) string {
	return originOf(v).started.UTC().Format("2006-01-02T15:04:05")
}

// properties returns the settings of a suite's runs, and where they were run.
func properties(v results.Result, suite string) (all []junitProperty) {
	add := func(name, value string) {
		if value != "" && value != "0" {
			all = append(all, junitProperty{name, value})
		}
	}
	o := originOf(v)
	add("id", o.id)
	add("command", view.Of(v).Page().Command)
	add("seed", fmt.Sprint(o.seed))
	add("stampede", o.tool.Version)
	add("cpu", o.host.CPU)
	add("cores", fmt.Sprint(o.host.Cores))
	for _, s := range variants(v) {
		for _, r := range s.runs {
			if checkOf(r).suite != suite && s.name == "" {
				continue
			}
			for _, c := range settings(r) {
				add(s.prefix()+c.name, c.value)
			}
			break // the other runs differ in clients and form, which are in the names of the cases
		}
	}
	return all
}

func (s variant) prefix() string {
	if s.name == "" {
		return ""
	}
	return s.name + "."
}

// A setting is one option of a run.
type setting struct{ name, value string }

// settings returns the settings of the run other than those that identify it: recipe, form, clients. The
// value is "" for an option that was not used. The remaining options follow, sorted by name.
func settings(r results.Run) []setting {
	all := []setting{
		{"server", r.Backend.Server}, {"durability", r.Backend.Durability}, {"client", r.Backend.Client},
		{"reads", r.Backend.Reads}, {"loop", r.Loop}, {"hold", text(r.HoldNS)}, {"think", text(r.ThinkNS)},
	}
	if o := r.Open; o != nil {
		all = append(all, setting{"rate", o.Rate}, setting{"arrival", o.Arrival}, setting{"late-limit", text(o.LateLimitNS)})
	}
	if m := r.Mix; m != nil {
		all = append(all, setting{"keys", fmt.Sprint(m.Keys)}, setting{"keys-by", m.KeysBy}, setting{"in-flight", fmt.Sprint(max(m.InFlight, 1))})
	}
	if b := r.Background; b != nil {
		all = append(all, setting{"background-clients", fmt.Sprint(b.Clients)}, setting{"background-rate", fmt.Sprint(b.RatePerS)})
	}
	if p := r.Preload; p != nil {
		all = append(all, setting{"preload", fmt.Sprint(p.Nodes)})
	}
	if ratio := r.ReadRatio; ratio != nil {
		all = append(all, setting{"read-share", fmt.Sprint(ratio.Asked)})
	}
	chosen := r.Settings
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		if !slices.ContainsFunc(all, func(s setting) bool { return s.name == name }) {
			all = append(all, setting{name, chosen[name]})
		}
	}
	return all
}

func text(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
