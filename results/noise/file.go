package noise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/stats"
)

// A File is the path of the file of calibrations. The file need not exist.
type File string

// A Floor is the calibration of one setting on one machine.
type Floor struct {
	Host    results.Host         `json:"host"`
	Setting string               `json:"setting"`
	Of      results.Sample       `json:"of"`
	Started time.Time            `json:"started"` // UTC
	Pairs   int                  `json:"pairs"`
	Ratios  map[string][]float64 `json:"ratios"` // by figure
}

// contents is the content of the file.
type contents struct {
	Schema int     `json:"schema"`
	Floors []Floor `json:"floors"`
	// Ceilings are the request rates of the load generator against a server that does nothing.
	Ceilings []Ceiling `json:"ceilings,omitempty"`
}

// A Ceiling is the ceiling of one client library on one machine.
type Ceiling struct {
	Host results.Host `json:"host"`
	results.Ceiling
}

// Keep adds the results of the calibration. They replace those of the same machine and setting, and
// ceilings of the same machine and client library.
func (f File) Keep(c results.Calibration) error {
	all, err := f.read()
	if err != nil {
		return err
	}
	for _, s := range c.Settings {
		floor := Floor{Host: c.Host, Setting: s.Setting, Of: s.Of, Started: c.Started, Pairs: c.Pairs, Ratios: map[string][]float64{}}
		for _, figure := range s.Figures {
			floor.Ratios[figure.Figure] = figure.Ratios
		}
		all.Floors = append(slices.DeleteFunc(all.Floors, func(old Floor) bool { return old.appliesTo(c.Host, s.Setting) }), floor)
	}
	for _, l := range c.Ceilings {
		all.Ceilings = slices.DeleteFunc(all.Ceilings, func(old Ceiling) bool { return old.Host == c.Host && old.Client == l.Client })
		all.Ceilings = append(all.Ceilings, Ceiling{c.Host, l})
	}
	return f.write(all)
}

// Ceiling returns the requests per second that the load generator reaches on the machine with the client
// library against a server that does nothing, 0 if that is not known.
func (f File) Ceiling(host results.Host, client string) float64 {
	all, err := f.read()
	if err != nil {
		return 0 // the reader of the noise floors reports the error
	}
	for _, l := range all.Ceilings {
		if l.Host == host && l.Client == client {
			return l.RequestsPerS
		}
	}
	return 0
}

func (f File) write(all contents) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(all); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o755); err != nil {
		return err
	}
	return archive.Replace(string(f), text.Bytes())
}

// Find returns the floor of the machine and the setting, false if there is none.
func (f File) Find(host results.Host, setting string) (Floor, bool, error) {
	all, err := f.read()
	if err != nil {
		return Floor{}, false, err
	}
	i := slices.IndexFunc(all.Floors, func(floor Floor) bool { return floor.appliesTo(host, setting) })
	if i < 0 {
		return Floor{}, false, nil
	}
	return all.Floors[i], true, nil
}

// FloorsOf returns the floors of the machine, the newest last.
func (f File) FloorsOf(host results.Host) ([]Floor, error) {
	all, err := f.read()
	return slices.DeleteFunc(all.Floors, func(floor Floor) bool { return floor.Host != host }), err
}

func (f File) read() (contents, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return contents{Schema: results.Schema}, nil
	}
	if err != nil {
		return contents{}, err
	}
	var all contents
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields() // any other result has a schema, too
	if err := strict.Decode(&all); err != nil || all.Schema != results.Schema {
		return contents{}, fmt.Errorf("%s: not a file of this stampede's calibrate: remove it, or name another with --noise", f)
	}
	return all, nil
}

func (f Floor) appliesTo(host results.Host, setting string) bool {
	return f.Host == host && f.Setting == setting
}

// Share returns the difference that the given number of pairs shows by noise alone, as a share of the
// base. It is 0 for a figure without a calibration.
func (f Floor) Share(figure string, pairs int) float64 {
	return Share(f.Ratios[figure], pairs)
}

// OfPair returns the 95th percentile of the difference within a single pair, as a share: two runs of the
// same setting differ by more in one case of twenty.
func OfPair(ratios []float64) float64 {
	sizes := make([]float64, len(ratios))
	for i, r := range ratios {
		sizes[i] = math.Expm1(math.Abs(math.Log(r)))
	}
	slices.Sort(sizes)
	if len(sizes) == 0 {
		return 0
	}
	return min(sizes[len(sizes)*95/100], Most)
}

// seed is constant, so that the same question always has the same answer.
const seed = 1

// Most replaces an infinite share: one run had 0 of what the other had.
const Most = 1000

// Share returns the difference that the given number of pairs shows by noise alone, as a share, given
// the ratios within the pairs of a calibration. It is 0 without ratios. If a figure is 0 in both,
// they do not differ.
func Share(ratios []float64, pairs int) float64 {
	if len(ratios) == 0 {
		return 0
	}
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r)
	}
	return min(Most, math.Expm1(stats.Floor(logs, pairs, seed)))
}
