package view

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

func (c calibration) Heading() string {
	if len(c.Ceilings) > 0 {
		return fmt.Sprintf("stampede calibrate --ceiling · seed %d · %s", c.Seed, c.Took.Round(time.Second))
	}
	return fmt.Sprintf("stampede calibrate · %s of two that are the same · seed %d · %s", units.Plural(c.Pairs, "pair"), c.Seed, c.Took.Round(time.Second))
}

// WriteTable writes the calibration for people.
func (c calibration) WriteTable(w io.Writer, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", c.Heading())
	o.Emphasize(&b, c.finding())
	for _, s := range c.Settings {
		fmt.Fprintf(&b, "\n  %s\n", s.Setting)
		noiseTable(s).write(&b)
	}
	user := "ab and gates find it"
	if len(c.Ceilings) > 0 {
		fmt.Fprintln(&b)
		c.ceilings().write(&b)
		user = "runs find it"
	}
	fmt.Fprintln(&b)
	writeLines(&b, "warning: ", texts(c.Warnings))
	if o.Saved != "" {
		fmt.Fprintf(&b, "  saved: %s, where %s\n", o.Saved, user)
	}
	writeCommand(&b, c.Command)
	_, err := w.Write(b.Bytes())
	return err
}

// noiseTable returns the table of the figures that are shown.
func noiseTable(s results.Noise) *grid {
	g := &grid{columns: []column{{head: "figure", left: true}, {head: "median", space: 3}, {head: "1 pair", over: "95 % within", space: 3},
		{head: "10 pairs", space: 3}, {head: "20 pairs", space: 3}}}
	for _, f := range s.Figures {
		if f.Shown {
			g.rows = append(g.rows, []string{f.Figure, units.Value(f.Median, f.Unit), "±" + units.Tenths(f.One), "±" + units.Tenths(f.Ten), "±" + units.Tenths(f.Twenty)})
		}
	}
	return g
}

// Findings names the figure with the most noise.
func (c calibration) Findings() []string { return []string{c.finding()} }

func (c calibration) finding() string {
	if c.Interrupted {
		return "Interrupted: nothing was kept."
	}
	if len(c.Ceilings) > 0 {
		return c.highest()
	}
	var noisiest results.FigureNoise
	for _, s := range c.Settings {
		for _, f := range s.Figures {
			if f.Shown && f.Ten >= noisiest.Ten {
				noisiest = f
			}
		}
	}
	return fmt.Sprintf("Noise floor: ten pairs of identical runs differ by up to ±%s in %s.", units.Tenths(noisiest.Ten), noisiest.Figure)
}

// ceilings returns the table of the ceilings.
func (c calibration) ceilings() *grid {
	g := &grid{columns: []column{{head: "client", left: true}, {head: "sessions", space: 3}, {head: "in flight each", space: 3}, {head: "requests/s", space: 3},
		{head: "generator", space: 3}, {head: "server", space: 3}}}
	for _, l := range c.Ceilings {
		g.rows = append(g.rows, []string{l.Client, units.Count(int64(l.Sessions)), units.Count(int64(l.InFlight)), units.Rate(l.RequestsPerS),
			fmt.Sprintf("%.1f cores", l.CPUCores), fmt.Sprintf("%.1f cores", l.ServerCores)})
	}
	return g
}

// highest names the client library with the highest request rate.
func (c calibration) highest() string {
	best := c.Ceilings[0]
	for _, l := range c.Ceilings {
		if l.RequestsPerS > best.RequestsPerS {
			best = l
		}
	}
	return fmt.Sprintf("This generator makes at most %s requests/s on this machine, with the client %s and a server that does nothing.",
		units.Rate(best.RequestsPerS), best.Client)
}
