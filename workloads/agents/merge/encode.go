package merge

import (
	"encoding/json"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// A packed record is a record in JSON, with its background, with its histograms apart, in the order of
// places, each as HdrHistogram encodes it; one that is missing is empty.
type packed struct {
	Record     metrics.Record
	Histograms [][]byte
}

// Marshal encodes the record of one agent. It leaves out the herds and the fan-out, which a part of a run
// does not have.
func Marshal(r *metrics.Record) ([]byte, error) {
	p := packed{Record: copied(r)}
	if r.Background != nil {
		b := copied(r.Background)
		p.Record.Background = &b
	}
	for _, h := range places(&p.Record) {
		text := []byte{}
		if *h != nil {
			var err error
			if text, err = (*h).Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
				return nil, fmt.Errorf("encode a histogram: %w", err)
			}
		}
		p.Histograms = append(p.Histograms, text)
		*h = nil
	}
	return json.Marshal(p)
}

// copied returns a copy without what a part of a run does not have, and with phases and intervals of its own.
func copied(r *metrics.Record) metrics.Record {
	c := *r
	c.Herd, c.Fanout, c.Background = metrics.Herd{}, nil, nil
	c.Phases = append([]metrics.Phase(nil), r.Phases...)
	c.Intervals = append([]metrics.Interval(nil), r.Intervals...)
	return c
}

// Unmarshal decodes the record of one agent.
func Unmarshal(text []byte) (*metrics.Record, error) {
	var p packed
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("decode a record: %w", err)
	}
	all := places(&p.Record)
	if len(all) != len(p.Histograms) {
		return nil, fmt.Errorf("decode a record: it has %d histograms, want %d", len(p.Histograms), len(all))
	}
	for i, text := range p.Histograms {
		*all[i] = nil
		if len(text) == 0 {
			continue
		}
		h, err := hdrhistogram.Decode(text)
		if err != nil {
			return nil, fmt.Errorf("decode a histogram: %w", err)
		}
		*all[i] = h
	}
	return &p.Record, nil
}

// places returns where a record has histograms.
func places(r *metrics.Record) (all []**hdrhistogram.Histogram) {
	for i := range r.Phases {
		all = append(all, &r.Phases[i].Service, &r.Phases[i].Response)
	}
	for i := range r.Intervals {
		all = append(all, &r.Intervals[i].Times)
	}
	if r.Background != nil {
		all = append(all, places(r.Background)...)
	}
	return append(all, &r.Generator.Lag, &r.Generator.Wakes)
}
