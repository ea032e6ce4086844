package document

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

func ofCalibration(c results.Calibration) (d Document) {
	d.begin(c.Head)
	what := fmt.Sprintf(" · %s of two that are the same", units.Plural(c.Pairs, "pair"))
	if len(c.Ceilings) > 0 {
		what = " --ceiling"
	}
	d.Heading = fmt.Sprintf("stampede calibrate%s · seed %d · %s", what, c.Seed, c.Took.Round(time.Second))
	if c.Interrupted {
		d.Interrupted = "Interrupted: nothing was kept."
	}
	d.Findings = calibrationFindings(c)
	for _, s := range c.Settings {
		d.Tables = append(d.Tables, noiseTable(s))
	}
	d.Tables = append(d.Tables, shown(ceilings(c))...)
	d.Warnings = warningsFrom(c.Warnings)
	return d
}

// noiseTable returns the table of the figures that are shown.
func noiseTable(s results.Noise) Table {
	t := Table{Title: s.Setting, Columns: columns(3, "<figure", "median", "1 pair", "10 pairs", "20 pairs")}
	t.Columns[2].Over = "95 % within"
	for _, f := range s.Figures {
		if f.Shown {
			t.Rows = append(t.Rows, []string{f.Figure, units.Value(f.Median, f.Unit),
				"±" + units.Tenths(f.One), "±" + units.Tenths(f.Ten), "±" + units.Tenths(f.Twenty)})
		}
	}
	return t
}

// calibrationFindings names the figure with the most noise, or the client library with the highest request
// rate.
func calibrationFindings(c results.Calibration) []string {
	switch {
	case c.Interrupted:
		return nil
	case len(c.Ceilings) > 0:
		best := slices.MaxFunc(c.Ceilings, func(a, b results.Ceiling) int { return cmp.Compare(a.RequestsPerS, b.RequestsPerS) })
		return []string{fmt.Sprintf("This generator makes at most %s requests/s on this machine, with the client %s and a server that does nothing.",
			units.Rate(best.RequestsPerS), best.Client)}
	}
	var noisiest results.FigureNoise
	for _, s := range c.Settings {
		for _, f := range s.Figures {
			if f.Shown && f.Ten >= noisiest.Ten {
				noisiest = f
			}
		}
	}
	if noisiest.Figure == "" {
		return []string{"Noise floor: not known, since the runs have no figure to show."}
	}
	return []string{fmt.Sprintf("Noise floor: ten pairs of identical runs differ by up to ±%s in %s.", units.Tenths(noisiest.Ten), noisiest.Figure)}
}

// ceilings returns the table of the ceilings.
func ceilings(c results.Calibration) Table {
	t := Table{Title: "client", Columns: columns(3, "<client", "sessions", "in flight each", "requests/s", "generator", "server")}
	for _, l := range c.Ceilings {
		t.Rows = append(t.Rows, []string{l.Client, units.Count(int64(l.Sessions)), units.Count(int64(l.InFlight)), units.Rate(l.RequestsPerS),
			fmt.Sprintf("%.1f cores", l.CPUCores), fmt.Sprintf("%.1f cores", l.ServerCores)})
	}
	return t
}
