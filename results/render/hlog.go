package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/results"
)

// writeHlog writes a line for each phase of each run: a histogram of all latencies, in nanoseconds, with a
// tag that identifies it. Each run starts in the log when the one before it ends, since a result does not
// record when each run started.
func writeHlog(w io.Writer, v results.Result, _ Options) error {
	var b bytes.Buffer
	log := hdrhistogram.NewHistogramLogWriter(&b)
	at := results.HeadOf(v).Started
	for _, write := range []func() error{
		log.OutputLogFormatVersion,
		func() error {
			return log.OutputComment("[stampede: times in nanoseconds, Interval_Max in milliseconds]")
		},
		func() error {
			return log.OutputComment("[Runs stand one right after the other, whatever lay between them]")
		},
		func() error { return log.OutputStartTime(at.UnixMilli()) },
		log.OutputLegend,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	for _, s := range variants(v) {
		for _, r := range s.runs {
			if err := logRun(log, s, r, at); err != nil {
				return err
			}
			at = at.Add(r.DurationNS)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// logRun writes the latency distributions of a run that started at the given time.
func logRun(log *hdrhistogram.HistogramLogWriter, s variant, r results.Run, at time.Time) error {
	for _, d := range times(r) {
		h, err := hdrhistogram.Decode([]byte(d.HDR))
		if err != nil {
			return fmt.Errorf("%s of %s/%s: its histogram cannot be read: %w", d.name, r.Recipe, r.Form, err)
		}
		h.SetTag(tag(s, r, d.name))
		h.SetStartTimeMs(at.UnixMilli())
		h.SetEndTimeMs(at.Add(r.DurationNS).UnixMilli())
		if err := log.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}

// A timed is a named distribution of durations.
type timed struct {
	name string
	*results.Distribution
}

// times returns the distributions of durations that have a histogram.
func times(r results.Run) (all []timed) {
	add := func(name string, d *results.Distribution) {
		if d != nil && d.HDR != "" {
			all = append(all, timed{name, d})
		}
	}
	latencies := func(prefix string, phases []string, of map[string]results.Latency) {
		for _, p := range phases {
			add(prefix+p+".response", of[p].Response)
			add(prefix+p+".service", of[p].Service)
		}
	}
	latencies("", r.Phases, r.Latency)
	add("drain", r.Herd.Drain)
	add("generator.lag", r.Generator.Lag)
	if b := r.Background; b != nil {
		latencies("background.", b.Phases, b.Latency)
	}
	return all
}

// tag returns a tag: "lock/one-node/clients=8/native/handoff.response". Characters that would end the tag
// become underscores.
func tag(s variant, r results.Run, of string) string {
	parts := []string{r.Scenario, r.Recipe, r.Form, fmt.Sprintf("clients=%d", r.Clients), r.Backend.Name, of}
	if s.name != "" {
		parts[0] = s.name
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	return strings.Join(strings.FieldsFunc(strings.Join(parts, "/"), func(c rune) bool { return c <= ' ' || c == ',' }), "_")
}
