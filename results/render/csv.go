package render

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// writeCSV writes a row for each run, each exact count, each change, or each value of a history. Unknown
// values are empty, and infinite ones are +Inf, which programs read as a number.
func writeCSV(w io.Writer, v results.Result, _ Options) error {
	t := sheet{}
	switch v := v.(type) {
	case results.CountReport:
		t.counts(v)
	case results.Comparison:
		t.changes(v)
	case results.History:
		t.values(v)
	default:
		t.runs(v)
	}
	c := csv.NewWriter(w)
	if err := c.Write(t.heads); err != nil {
		return err
	}
	return c.WriteAll(t.rows)
}

// A sheet is filled cell by cell; the first row defines the column names.
type sheet struct {
	heads []string
	rows  [][]string
}

func (t *sheet) begin() { t.rows = append(t.rows, nil) }

func (t *sheet) set(head, cell string) {
	last := len(t.rows) - 1
	if last == 0 {
		t.heads = append(t.heads, head)
	}
	t.rows[last] = append(t.rows[last], cell)
}

func (t *sheet) number(head string, v float64) { t.set(head, strconv.FormatFloat(v, 'f', -1, 64)) }

func (t *sheet) count(head string, n int64) { t.set(head, strconv.FormatInt(n, 10)) }

// known sets a number, or an empty cell if it is not known.
func (t *sheet) known(head string, v float64, known bool) {
	if !known {
		t.set(head, "")
		return
	}
	t.number(head, v)
}

// runs adds a row for each run, with its settings and all figures that any of the runs can have.
func (t *sheet) runs(v results.Result) {
	all := variants(v)
	var phases []string
	options := map[string]string{} // of any run
	for _, s := range all {
		for _, r := range s.runs {
			maps.Copy(options, r.Settings)
			for _, p := range r.Phases {
				if !slices.Contains(phases, p) {
					phases = append(phases, p)
				}
			}
		}
	}
	for _, s := range all {
		for _, r := range s.runs {
			t.begin()
			t.set("id", results.HeadOf(v).ID)
			t.set("started", results.HeadOf(v).Started.UTC().Format(time.RFC3339))
			t.identity(r)
			for _, f := range figure.All(phases) {
				is := f.Read(r)
				t.known(f.Column(), is.Value, is.Known())
			}
			chosen := r.Settings
			for _, name := range slices.Sorted(maps.Keys(options)) {
				t.set("setting_"+strings.ReplaceAll(name, "-", "_"), chosen[name])
			}
		}
	}
	if len(t.heads) == 0 {
		t.heads = []string{"id", "started"}
	}
}

// values adds a row for each value of each figure of a history. The columns of a change are filled where
// one begins.
func (t *sheet) values(h results.History) {
	for _, f := range h.Figures {
		for i, p := range f.Points {
			t.begin()
			t.set("figure", f.Figure)
			t.set("unit", f.Unit)
			t.set("of", f.Of)
			t.set("machine", f.Machine)
			t.set("result", p.Result)
			t.set("started", p.Started.UTC().Format(time.RFC3339))
			t.set("subject", p.Subject)
			t.set("tags", strings.Join(results.Marks{Tags: p.Tags}.Words(), " "))
			t.number("value", p.Number())
			change, share := "", (*float64)(nil)
			for _, c := range f.Changes {
				if c.At == i {
					change, share = c.Word(), c.Size
				}
			}
			t.set("change", change)
			pointed(t, "change_share", share)
		}
	}
	if len(t.heads) == 0 {
		t.heads = []string{"figure"}
	}
}

// identity adds the recipe, the form and the settings of a run.
func (t *sheet) identity(r results.Run) {
	t.set("scenario", r.Scenario)
	t.who(r.Recipe, r.Form, r.Family, r.Backend, r.Clients)
	t.count("groups", int64(max(r.Groups, 1)))
	t.set("loop", r.Loop)
	open := results.Open{}
	if r.Open != nil {
		open = *r.Open
	}
	t.set("rate", open.Rate)
	t.set("arrival", open.Arrival)
	t.known("offered_per_s", r.OfferedPerS, r.Open != nil)
	mix, ratio := results.Mix{}, results.ReadRatio{}
	if r.Mix != nil && r.ReadRatio != nil {
		mix, ratio = *r.Mix, *r.ReadRatio
	}
	t.known("reads_share", ratio.Asked, r.Mix != nil)
	t.known("size_bytes", float64(mix.SizeBytes), r.Mix != nil)
	t.count("hold_ns", r.HoldNS.Nanoseconds())
	t.count("think_ns", r.ThinkNS.Nanoseconds())
	t.count("warmup_ns", r.WarmupNS.Nanoseconds())
	t.count("duration_ns", r.DurationNS.Nanoseconds())
	t.count("warnings", int64(len(r.Warnings)))
}

func (t *sheet) who(recipe, form, family string, b results.Backend, clients int) {
	t.set("recipe", recipe)
	t.set("form", form)
	t.set("family", family)
	t.set("backend", b.Name)
	t.set("url", b.URL)
	t.set("server", b.Server)
	t.set("durability", b.Durability)
	t.set("client", b.Client)
	t.set("reads", b.Reads)
	t.count("clients", int64(clients))
}

func (t *sheet) counts(r results.CountReport) {
	for _, s := range r.Settled {
		for _, f := range figure.Counts() {
			e, _ := f.CountValue(s)
			t.begin()
			t.who(s.Recipe, s.Form, s.Family, s.Backend, s.Clients)
			t.count("rounds", s.Rounds)
			t.set("count", strings.TrimPrefix(f.Name, "count."))
			t.count("counted", e.Counted)
			pointed(t, "expected", e.Expected)
			pointed(t, "most", e.Most)
			t.set("formula", e.Formula)
			pointed(t, "server_counted", e.Server)
			t.count("violations", s.Safety.Violations)
		}
	}
}

func (t *sheet) changes(v results.Comparison) {
	for _, x := range v.Changes {
		t.begin()
		t.set("base", v.Base.Label)
		t.set("new", v.New.Label)
		t.set("subject", x.Subject)
		t.set("figure", x.Figure)
		t.set("unit", x.Unit)
		t.set("gated", strconv.FormatBool(x.Gated))
		base, other := x.Medians()
		t.known("base_median", base, x.Known())
		t.known("new_median", other, x.Known())
		e := results.Estimate{}
		if x.Effect != nil {
			e = *x.Effect
		}
		for _, c := range []struct {
			head  string
			value float64
		}{{"change_share", e.Value}, {"low_share", e.Low}, {"high_share", e.High}, {"confidence_share", e.Confidence}} {
			t.known(c.head, c.value, x.Effect != nil)
		}
		pointed(t, "p", x.P)
		pointed(t, "p_adjusted", x.Adjusted)
		t.number("minimum_effect_share", x.Minimum)
		t.count("ratios", int64(len(x.Ratios)))
		t.set("verdict", string(x.Verdict))
		t.set("why", x.Why)
		t.number("noise_floor_share", x.Floor)
		pointed(t, "detectable_effect_share", x.Detectable)
		pointed(t, "power_share", x.Power)
		t.set("exact", strconv.FormatBool(x.Exact))
	}
}

// pointed sets a number, or an empty cell if there is none.
func pointed[T int64 | float64](t *sheet, head string, v *T) {
	if v == nil {
		t.set(head, "")
		return
	}
	t.number(head, float64(*v))
}
