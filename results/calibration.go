package results

import (
	"maps"
	"reflect"
	"time"
)

// A Calibration is the noise that a machine shows between runs of the same variant.
type Calibration struct {
	Head
	Pairs    int       `json:"pairs"`
	Settings []Noise   `json:"settings"`
	Ceilings []Ceiling `json:"ceilings,omitempty"` // of calibrate --ceiling, which measures no settings
	Warnings []Warning `json:"warnings"`
}

// Noise is the noise of one setting.
type Noise struct {
	Setting string        `json:"setting"` // as arguments of stampede run
	Of      Sample        `json:"of"`
	Figures []FigureNoise `json:"figures"`
}

// A Sample identifies what a run measured, so that other runs can be recognized as the same.
type Sample struct {
	Recipe     string        `json:"recipe"`
	Form       string        `json:"form"`
	URL        string        `json:"url"`
	Clients    int           `json:"clients"`
	Groups     int           `json:"groups"`
	HoldNS     time.Duration `json:"hold_ns"`
	DurationNS time.Duration `json:"duration_ns"`
	// Settings are the run's settings.
	Settings map[string]string `json:"settings,omitempty"`
}

// Sample returns the sample that the run is of.
func (r Run) Sample() Sample {
	return Sample{r.Recipe, r.Form, r.Backend.URL, r.Clients, r.Groups, r.HoldNS, r.DurationNS, r.Settings}
}

// Like reports whether two samples are of the same thing.
func (s Sample) Like(other Sample) bool {
	settings, others := s.Settings, other.Settings
	s.DurationNS, s.Settings, other.DurationNS, other.Settings = 0, nil, 0, nil // the duration is a setting
	given := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(_, value string) bool { return isOff(value) })
		return all
	}
	return reflect.DeepEqual(s, other) && maps.Equal(given(settings), given(others))
}

// FigureNoise says how much a figure differs between runs of the same setting.
type FigureNoise struct {
	Figure string    `json:"figure"`
	Unit   string    `json:"unit"`
	Shown  bool      `json:"shown"` // one of the figures that are gated by default
	Median float64   `json:"median"`
	Ratios []float64 `json:"ratios"` // one run divided by the other, for each pair
	// One is the 95th percentile of the difference that one pair shows; Ten and Twenty are those
	// of the estimate from ten and from twenty pairs. All three are shares.
	One    float64 `json:"one_pair"`
	Ten    float64 `json:"ten_pairs"`
	Twenty float64 `json:"twenty_pairs"`
}

// A Ceiling is the request rate that the load generator reaches against a server that does nothing:
// a limit of the generator, its client library and the machine.
type Ceiling struct {
	Client       string  `json:"client"` // the client library
	Sessions     int     `json:"sessions"`
	InFlight     int     `json:"in_flight"` // requests in flight per session
	RequestsPerS float64 `json:"requests_per_s"`
	CPUCores     float64 `json:"cpu_cores"`    // used by the generator
	ServerCores  float64 `json:"server_cores"` // used by the server
}
