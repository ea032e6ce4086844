package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// heading says in one line what was swept.
func (s Sweep) heading() string {
	parts := append([]string{"stampede sweep"}, distinct(s.Runs, func(r Run) string { return r.Recipe })...)
	parts = append(parts, distinct(s.Runs, func(r Run) string { return r.Backend.where() })...)
	if len(s.Runs) > 0 {
		parts = append(parts, s.settings(s.Runs[0])...)
	}
	if s.Objective != "" {
		parts = append(parts, s.Objective)
	}
	parts = append(parts, fmt.Sprintf("seed %d", s.Seed))
	if len(s.Levels) > 0 && s.Objective == "" {
		forms := distinct(s.Runs, func(r Run) string { return r.Recipe + "/" + r.Form })
		parts = append(parts, fmt.Sprintf("%s × %s × %d", plural(len(s.places()), "level"), plural(len(forms), "form"), s.Repeat))
	}
	if s.Took > 0 {
		parts = append(parts, s.Took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// settings returns the settings that are the same at all levels.
func (s Sweep) settings(r Run) (parts []string) {
	fixed := func(axis string) bool { return !slices.Contains(s.Axes, axis) }
	if r.Groups > 1 && fixed("groups") {
		parts = append(parts, plural(r.Groups, "group"))
	}
	if r.Open != nil && fixed("rate") {
		parts = append(parts, r.Open.Rate+"/s")
	}
	if r.isMix() {
		parts = append(parts, s.mixSettings(r)...)
	} else if fixed("hold") {
		parts = append(parts, "hold "+setting(r.HoldNS))
	}
	if s.Objective == "" {
		parts = append(parts, "each "+setting(r.DurationNS.Round(100*time.Millisecond)))
	}
	return parts
}

// mixSettings returns the settings of raw operations.
func (s Sweep) mixSettings(r Run) (parts []string) {
	if slices.Contains(s.Axes, "size") {
		parts = append(parts, Count(int64(r.Mix.Keys))+" keys")
	} else {
		parts = append(parts, r.Mix.about())
	}
	if !slices.Contains(s.Axes, "reads") {
		parts = append(parts, share(r.ReadRatio.Asked)+" reads")
	}
	return parts
}

// places returns the distinct levels, over all forms.
func (s Sweep) places() (all []string) {
	for _, l := range s.Levels {
		p := fmt.Sprint(l.Clients, l.Groups, l.HoldNS, l.Rate, l.Reads, l.Size)
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}
