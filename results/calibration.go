package results

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// KindCalibration is the kind of a Calibration.
const KindCalibration = "calibration"

// A Calibration is the noise that a machine shows between two sides that are the same.
type Calibration struct {
	Schema      int           `json:"schema"`
	Kind        string        `json:"kind"`    // KindCalibration
	Started     time.Time     `json:"started"` // UTC
	Tool        Tool          `json:"tool"`
	Host        Host          `json:"host"`
	Command     []string      `json:"command"`
	Seed        uint64        `json:"seed"`
	Took        time.Duration `json:"took_ns"`
	Interrupted bool          `json:"interrupted,omitempty"` // and so the calibration was not kept
	Pairs       int           `json:"pairs"`
	Settings    []Noise       `json:"settings"`
	Ceilings    []Ceiling     `json:"ceilings,omitempty"` // of calibrate --ceiling, which measures no settings
	Warnings    []Warning     `json:"warnings"`
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
	// Settings are the run's settings; missing in older calibrations.
	Settings map[string]string `json:"settings,omitempty"`
}

// Sample returns the sample that the run is of.
func (r Run) Sample() Sample {
	return Sample{r.Recipe, r.Form, r.Backend.URL, r.Clients, r.Groups, r.HoldNS, r.DurationNS, r.Settings}
}

// Like reports whether two samples are of the same thing, with durations within a tenth of each
// other. A setting counts only if both samples record it.
func (s Sample) Like(other Sample) bool {
	long, short := max(s.DurationNS, other.DurationNS), min(s.DurationNS, other.DurationNS)
	if 10*(long-short) > long {
		return false
	}
	for name, value := range s.Settings {
		was, known := other.Settings[name]
		if known && was != value && name != "duration" {
			return false
		}
	}
	return s.Recipe == other.Recipe && s.Form == other.Form && s.URL == other.URL && s.Clients == other.Clients &&
		s.Groups == other.Groups && s.HoldNS == other.HoldNS
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

// WriteJSON writes the calibration.
func (c Calibration) WriteJSON(w io.Writer) error { return WriteJSON(w, c) }

func (c Calibration) heading() string {
	if len(c.Ceilings) > 0 {
		return fmt.Sprintf("stampede calibrate --ceiling · seed %d · %s", c.Seed, c.Took.Round(time.Second))
	}
	return fmt.Sprintf("stampede calibrate · %s of two that are the same · seed %d · %s", plural(c.Pairs, "pair"), c.Seed, c.Took.Round(time.Second))
}

// WriteTable writes the calibration for people.
func (c Calibration) WriteTable(w io.Writer, o TableOptions) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", c.heading())
	o.emphasize(&b, c.finding())
	for _, s := range c.Settings {
		fmt.Fprintf(&b, "\n  %s\n", s.Setting)
		s.table().write(&b)
	}
	user := "ab and gates find it"
	if len(c.Ceilings) > 0 {
		fmt.Fprintln(&b)
		c.ceilings().write(&b)
		user = "runs find it"
	}
	fmt.Fprintln(&b)
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning.Text)
	}
	if o.Saved != "" {
		fmt.Fprintf(&b, "  saved: %s, where %s\n", o.Saved, user)
	}
	fmt.Fprintf(&b, "  again: %s\n", commandLine(c.Command))
	_, err := w.Write(b.Bytes())
	return err
}

// table returns the table of the figures that are shown.
func (s Noise) table() *grid {
	g := &grid{columns: []column{{head: "figure", left: true}, {head: "median", space: 3}, {head: "1 pair", over: "95 % within", space: 3},
		{head: "10 pairs", space: 3}, {head: "20 pairs", space: 3}}}
	for _, f := range s.Figures {
		if f.Shown {
			g.rows = append(g.rows, []string{f.Figure, Value(f.Median, f.Unit), "±" + shareOf(f.One), "±" + shareOf(f.Ten), "±" + shareOf(f.Twenty)})
		}
	}
	return g
}

// finding names the figure with the most noise.
func (c Calibration) finding() string {
	if c.Interrupted {
		return "Interrupted: nothing was kept."
	}
	if len(c.Ceilings) > 0 {
		return c.highest()
	}
	var noisiest FigureNoise
	for _, s := range c.Settings {
		for _, f := range s.Figures {
			if f.Shown && f.Ten >= noisiest.Ten {
				noisiest = f
			}
		}
	}
	return fmt.Sprintf("Of what does not differ, ten pairs show up to ±%s in %s.", shareOf(noisiest.Ten), noisiest.Figure)
}
