package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Chosen returns the run's options that can change its figures, by the name of the flag of stampede
// run. Where the run has a field for an option, Chosen takes the value from the field, so that runs
// of older files, which have no Settings, can be compared with newer ones as far as possible.
func (r Run) Chosen() map[string]string {
	all := map[string]string{}
	maps.Copy(all, r.Settings)
	for name, value := range map[string]string{"hold": r.HoldNS.String(), "think": r.ThinkNS.String()} {
		if _, uses := r.Settings[name]; uses || r.Settings == nil {
			all[name] = value
		}
	}
	all["warmup"] = r.WarmupNS.String()
	all["groups"] = strconv.Itoa(max(1, r.Groups))
	maps.Copy(all, r.Open.chosen())
	maps.Copy(all, r.Mix.chosen())
	maps.Copy(all, r.Preload.chosen())
	if r.ReadRatio != nil {
		all["reads"] = fmt.Sprint(r.ReadRatio.Asked)
	}
	all["background"] = r.Background.Asked()
	return all
}

func (o *Open) chosen() map[string]string {
	if o == nil {
		return map[string]string{"rate": "", "arrival": "", "late-limit": ""}
	}
	return map[string]string{"rate": o.Rate, "arrival": o.Arrival, "late-limit": o.LateLimitNS.String()}
}

func (m *Mix) chosen() map[string]string {
	if m == nil {
		return nil
	}
	return map[string]string{"keys": strconv.Itoa(m.Keys), "keys-by": m.KeysBy, "size": strconv.Itoa(m.SizeBytes), "lists": fmt.Sprint(m.Lists),
		"in-flight": strconv.Itoa(max(1, m.InFlight)), "creates": fmt.Sprint(m.Creates), "conditional": strconv.FormatBool(m.Conditional), "watchers": strconv.Itoa(m.Watchers)}
}

func (p *Preload) chosen() map[string]string {
	if p == nil {
		p = &Preload{}
	}
	return map[string]string{"preload": strconv.Itoa(p.Nodes), "preload-watches": strconv.Itoa(p.Watches)}
}

// Asked describes the background that was requested, "" if there is none.
func (b *Background) Asked() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%d clients at %g/s, %g reads, %d keys of %d B, %d watchers", b.Clients, b.RatePerS, b.ReadRatio.Asked, b.Keys, b.SizeBytes, b.Watchers)
}

// traits returns the known properties of the service that can change figures.
func (b Backend) traits() map[string]string {
	all := map[string]string{"server": b.Server, "durability": b.Durability, "client library": b.Client, "read mode": b.Reads}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	all["start of the server"] = cmp.Or(b.Started, "given by its address")
	return all
}

// Conditions returns the run's chosen options and the traits of its service.
func (r Run) Conditions() map[string]string {
	all := r.Chosen()
	maps.Copy(all, r.Backend.traits())
	return all
}

// A Difference is a condition that differs between the runs of base and candidate.
type Difference struct{ Name, Base, New string }

// Differences compares the conditions of the runs of base and candidate. It returns the conditions that
// differ, sorted by name, and the names of those that one of them does not record: the base's first, then
// the candidate's.
func Differences(base, other []Run) (all []Difference, unrecorded [2][]string) {
	variants := [2]map[string][]string{valuesOf(base), valuesOf(other)}
	names := slices.Sorted(maps.Keys(variants[0]))
	names = append(names, slices.Sorted(maps.Keys(variants[1]))...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, is := variants[0][name], variants[1][name]
		switch {
		case was == nil:
			unrecorded[0] = append(unrecorded[0], name)
		case is == nil:
			unrecorded[1] = append(unrecorded[1], name)
		case !slices.Equal(was, is):
			all = append(all, Difference{name, strings.Join(was, ", "), strings.Join(is, ", ")})
		}
	}
	return all, unrecorded
}

// valuesOf returns the different values of each condition, sorted.
func valuesOf(runs []Run) map[string][]string {
	all := map[string][]string{}
	for _, r := range runs {
		for name, value := range r.Conditions() {
			value = cmp.Or(value, "none")
			if at, found := slices.BinarySearch(all[name], value); !found {
				all[name] = slices.Insert(all[name], at, value)
			}
		}
	}
	return all
}
