package faults

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// A Preset is a set of faults that a program should survive, and what it should have afterwards.
type Preset struct {
	Name, About string
	Faults      []string // as Parse reads them
	Thresholds  []string // on figures of recovery
}

// everything lists the thresholds that hold for a program that has recovered completely.
var everything = []string{"recovery.missing_nodes == 0", "recovery.missing_watches == 0", "recovery.duplicates == 0", "recovery.gave_up == 0"}

// Presets returns all presets.
func Presets() []Preset {
	return []Preset{
		{"expiry", "the service expires all sessions", []string{"at=3s expire clients=all"}, everything},
		{"restart", "all servers are killed and restarted", []string{"at=3s kill members=all, restart after=500ms"}, everything},
		{"leader-change", "the leader is killed, and restarted after a new one was elected", []string{"at=3s kill leader, restart after=3s"}, everything},
		{"lost-reply", "creates are executed, but their replies are lost", []string{"at=1s lose clients=all reply=create every=1s times=5"},
			append([]string{"recovery.writes_done_twice == 0"}, everything...)},
		{"flapping", "all connections break repeatedly", []string{"at=3s cut clients=all every=700ms times=5"},
			append([]string{"retries.in_step == 0"}, everything...)},
	}
}

// isFault reports whether a text is to be a fault: a name of a preset has no space and no value.
func isFault(text string) bool { return strings.ContainsAny(text, " =") || text == "" }

// Expand returns the faults of a text, which is one fault or the name of a preset, and the thresholds of a preset.
func Expand(text string) (s Schedule, thresholds []string, err error) {
	texts, names := []string{text}, []string{}
	for _, p := range Presets() {
		names = append(names, p.Name)
		if p.Name == text {
			texts, thresholds = p.Faults, p.Thresholds
		}
	}
	if !isFault(text) && thresholds == nil {
		return nil, nil, fmt.Errorf("fault %q: %w; or say when it comes, such as 'at=3s expire clients=all'", text, suggest.Unknown("preset", text, names))
	}
	for _, t := range texts {
		f, err := Parse(t)
		if err != nil {
			return nil, nil, err
		}
		s = append(s, f)
	}
	return s, thresholds, nil
}
