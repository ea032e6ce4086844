package render

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
)

// writeBench writes a line for each run with a completed round, so repetitions are lines with the same
// name. The key "side" distinguishes base and candidate of a comparison: benchstat -col side.
func writeBench(w io.Writer, v results.Result, _ Options) error {
	b := benchfmt.NewWriter(w)
	units := map[string]bool{}
	for _, s := range variants(v) {
		for _, r := range s.runs {
			if r.Rounds == 0 {
				continue
			}
			values := benchValues(r)
			for _, m := range values {
				if err := m.declare(b, units); err != nil {
					return err
				}
			}
			if err := b.Write(benchResult(results.HeadOf(v).Host, s, r, values)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A benchValue is one measurement, in a unit of its own for benchstat.
type benchValue struct {
	benchfmt.Value
	better figure.Direction
}

// declare writes which direction of the unit is better, once per unit.
func (v benchValue) declare(b *benchfmt.Writer, declared map[string]bool) error {
	if declared[v.Unit] {
		return nil
	}
	declared[v.Unit] = true
	better := "lower"
	if v.better == figure.More {
		better = "higher"
	}
	return b.Write(&benchfmt.UnitMetadata{OrigUnit: v.Unit, Value: better,
		UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: v.Unit, Key: "better"}})
}

// benchValues returns the values by which a change is judged: the time of a round, its costs, and the
// median and the 99th percentile of each phase, as response time if it is known, otherwise as service
// time.
func benchValues(r results.Run) []benchValue {
	values := []benchValue{{benchfmt.Value{Value: float64(r.DurationNS) / float64(r.Rounds), Unit: "ns/op"}, figure.Less}}
	add := func(unit string, name string) bool {
		f, err := figure.Parse(name, r.Phases)
		if err != nil {
			return false
		}
		is := f.Read(r)
		if is.Known() && !is.Infinite() { // benchstat has no place for an infinite time, and a service time is no substitute
			values = append(values, benchValue{benchfmt.Value{Value: is.Value, Unit: unit}, f.Better})
		}
		return is.Known()
	}
	add("rounds/s", "rounds_per_s")
	for _, what := range []string{"notifications", "reads", "writes"} {
		add(what+"/op", what+"_per_round")
	}
	for _, phase := range r.Phases {
		for _, p := range []string{"p50", "p99"} {
			unit := fmt.Sprintf("%s-%s-ns", phase, p)
			if !add(unit, phase+".response."+p) {
				add(unit, phase+".service."+p)
			}
		}
	}
	return values
}

// benchResult returns the result of a run. The name identifies the recipe, the form and the number of
// clients, and the configuration has the other settings. Both omit whatever differs from command to command,
// since benchstat compares results with the same name and configuration.
func benchResult(h results.Host, s variant, r results.Run, values []benchValue) *benchfmt.Result {
	res := &benchfmt.Result{Name: benchName(r), Iters: int(r.Rounds)}
	for _, v := range values {
		res.Values = append(res.Values, v.Value)
	}
	config := []document.Fact{{Name: "goos", Value: h.OS}, {Name: "cpu", Value: h.CPU}, {Name: "side", Value: s.name},
		{Name: "scenario", Value: r.Scenario}}
	for _, c := range append(config, document.SettingsOf(r)...) {
		if c.Value != "" {
			res.Config = append(res.Config, benchfmt.Config{Key: strings.ReplaceAll(c.Name, " ", "-"), Value: []byte(oneLine(c.Value)), File: true})
		}
	}
	return res
}

// benchName returns a benchmark name: "Lock/form=predecessor/clients=8/backend=native".
func benchName(r results.Run) benchfmt.Name {
	var b strings.Builder
	for word := range strings.SplitSeq(r.Recipe, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	part := func(key string, value any) {
		fmt.Fprintf(&b, "/%s=%s", key, strings.Join(strings.FieldsFunc(fmt.Sprint(value), separates), "_"))
	}
	part("form", r.Form)
	part("clients", r.Clients)
	if r.Groups > 1 {
		part("groups", r.Groups)
	}
	if r.Mix != nil && r.ReadRatio != nil {
		part("reads", r.ReadRatio.Asked)
		part("size", r.Mix.SizeBytes)
	}
	part("backend", r.Backend.Name)
	return benchfmt.Name(b.String())
}

// separates reports whether the character would end a part of a name.
func separates(c rune) bool { return c <= ' ' || c == '/' }

// oneLine replaces line breaks and other white space with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
