package results

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// KindRun is the kind of a plain File. Such a file has no kind field: a result without a kind
// is a KindRun.
const KindRun = "run"

// A Result is a result of any kind: a File, a Sweep, a CountReport, a Comparison, an
// Observation, a Calibration or a History.
type Result interface {
	WriteJSON(w io.Writer) error
}

// Kinds returns the kinds of results that ReadAny reads. Calibrations and histories are not among them.
func Kinds() []string {
	return []string{KindRun, KindSweep, KindCount, KindComparison, KindObservation}
}

// KindOf returns the kind of a result.
func KindOf(v Result) string {
	switch v.(type) {
	case Sweep:
		return KindSweep
	case CountReport:
		return KindCount
	case Comparison:
		return KindComparison
	case Observation:
		return KindObservation
	case Calibration:
		return KindCalibration
	case History:
		return KindHistory
	}
	return KindRun
}

// StartOf returns when the measurement of a result began; the zero time for a calibration or a history.
func StartOf(v Result) time.Time {
	switch r := v.(type) {
	case File:
		return r.Started
	case Sweep:
		return r.Started
	case CountReport:
		return r.Started
	case Comparison:
		return r.Started
	case Observation:
		return r.Started
	}
	return time.Time{}
}

// IDOf returns the id of a result; "" for a calibration, a history, and for counts of older versions.
func IDOf(v Result) string {
	switch r := v.(type) {
	case File:
		return r.ID
	case Sweep:
		return r.ID
	case CountReport:
		return r.ID
	case Comparison:
		return r.ID
	case Observation:
		return r.ID
	}
	return ""
}

// ReadAny reads a result of any of the Kinds, of this schema or an older one. The error is one
// line.
func ReadAny(r io.Reader) (Result, error) {
	text, err := readSchema(r)
	if err != nil {
		return nil, err
	}
	kind, err := kindOf(text)
	if err != nil {
		return nil, err
	}
	switch kind {
	case KindRun:
		return parse[File](text)
	case KindSweep:
		return parse[Sweep](text)
	case KindCount:
		return parse[CountReport](text)
	case KindComparison:
		return parse[Comparison](text)
	case KindObservation:
		return parse[Observation](text)
	case KindCalibration, KindHistory:
		return nil, fmt.Errorf("the file of a %s: want that of a result", kind)
	}
	return nil, fmt.Errorf("a result of kind %q, which this stampede does not know; use a newer one", kind)
}

// kindOf returns the kind that the text declares. Count reports of older versions declare none;
// kindOf recognizes them by their content.
func kindOf(text []byte) (string, error) {
	var said struct {
		Kind    string          `json:"kind"`
		Settled json.RawMessage `json:"settled"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return "", fmt.Errorf("not a result file: %w", err)
	}
	switch {
	case said.Kind != "":
		return said.Kind, nil
	case said.Settled != nil:
		return KindCount, nil
	}
	return KindRun, nil
}
