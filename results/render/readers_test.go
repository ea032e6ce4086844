package render

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/joshdk/go-junit"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A JUnit parser finds as many cases with each outcome as there are checks with it.
func TestJUnitIsRead(t *testing.T) {
	type outcome struct{ tests, failed, errors, skipped int }
	all := samples()
	for name, want := range map[string]outcome{
		"gated": {8, 1, 2, 0}, "odd": {2, 0, 0, 0}, "violated": {4, 2, 0, 1}, "interrupted": {2, 0, 1, 1}, "empty": {1, 0, 1, 0},
		"swept": {16, 0, 0, 0}, "counted": {5, 2, 0, 0}, "compared": {2, 1, 0, 1},
	} {
		suites, err := junit.Ingest(written(t, "junit", all[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got outcome
		names := map[string]bool{}
		for _, s := range suites {
			for _, c := range s.Tests {
				names[s.Name+c.Classname+c.Name] = true
				got.tests++
				switch c.Status {
				case junit.StatusFailed:
					got.failed++
				case junit.StatusError:
					got.errors++
				case junit.StatusSkipped:
					got.skipped++
				}
			}
		}
		if got != want || len(names) != want.tests {
			t.Errorf("%s: %+v in %d names, want %+v", name, got, len(names), want)
		}
	}
}

// benchstat reads the output, distinguishes the forms, and finds that one file is a quarter slower than the
// other. It also shows base and candidate of a comparison in columns.
func TestBenchstatReads(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, handoff time.Duration, rounds int64) string {
		var runs []results.Run
		for i := range int64(6) {
			runs = append(runs, lock("predecessor", "recipe", rounds+i, 1, handoff+time.Duration(i)*time.Microsecond),
				lock("one-node", "naive", rounds/2, 7, 10*handoff))
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, written(t, "bench", fileOf(runs...)), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	golden.Compare(t, "testdata/benchstat.txt", benchstat(t, "old="+file("old", 1000*time.Microsecond, 2000), "new="+file("new", 1250*time.Microsecond, 1600)))
	variants := filepath.Join(folder, "variants")
	if err := os.WriteFile(variants, written(t, "bench", compared()), 0o644); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/benchstat-variants.txt", benchstat(t, "-col", "side", variants))
}

func benchstat(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", append([]string{"tool", "benchstat"}, args...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), ":") {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return out
}

// A reader of logs finds each histogram of the result, with equal bins.
func TestHlogIsRead(t *testing.T) {
	for _, v := range []results.Result{gated(), odd(), swept(), compared(), interrupted(), empty()} {
		sameHistograms(t, v)
	}
}

func sameHistograms(t *testing.T, v results.Result) {
	t.Helper()
	log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(written(t, "hlog", v)))
	begin := results.HeadOf(v).Started
	for _, s := range variants(v) {
		for _, r := range s.runs {
			for _, d := range times(r) {
				got, err := log.NextIntervalHistogram()
				if err != nil || got == nil {
					t.Fatalf("%s of %s is not there: %v", d.name, r.Form, err)
				}
				want, err := hdrhistogram.Decode([]byte(d.HDR))
				if err != nil {
					t.Fatal(err)
				}
				if !got.Equals(want) {
					t.Errorf("%s is another histogram than %s of %s", got.Tag(), d.name, r.Form)
				}
				if d.P99 != nil && got.ValueAtQuantile(99) != *d.P99 {
					t.Errorf("%s: the 99th percentile is %d, not %d", got.Tag(), got.ValueAtQuantile(99), *d.P99)
				}
				if got.Tag() != tag(s, r, d.name) || got.EndTimeMs()-got.StartTimeMs()-r.DurationNS.Milliseconds() > 1 {
					t.Errorf("tag %q, %d ms from %d", got.Tag(), got.EndTimeMs()-got.StartTimeMs(), got.StartTimeMs())
				}
				if got.StartTimeMs() < begin.UnixMilli() {
					t.Errorf("%s begins before the result", got.Tag())
				}
			}
		}
	}
	if more, err := log.NextIntervalHistogram(); more != nil || err != nil {
		t.Errorf("one histogram too many, %v", err)
	}
}

// Reading the CSV back gives every figure of every run, to the last digit, and an empty cell for each
// unknown value.
func TestCSVIsReadBack(t *testing.T) {
	f := gated()
	all, err := csv.NewReader(bytes.NewReader(written(t, "csv", f))).ReadAll()
	if err != nil || len(all) != 3 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	unknown := 0
	for i, r := range f.Runs {
		cell := map[string]string{}
		for j, head := range all[0] {
			if _, twice := cell[head]; twice {
				t.Errorf("two columns are called %s", head)
			}
			cell[head] = all[i+1][j]
		}
		for _, f := range figure.All(r.Phases) {
			want := sheet{}
			want.begin()
			v, known := f.RunValue(r)
			want.known("", v, known)
			if got, ok := cell[f.Column()]; !ok || got != want.rows[0][0] {
				t.Errorf("%s of %s is %q, want %q", f.Name, r.Form, got, want.rows[0][0])
			}
			if !known {
				unknown++
			}
		}
		if cell["form"] != r.Form || cell["clients"] != "8" || cell["hold_ns"] != "1000000" {
			t.Errorf("row %d is of %v", i, cell)
		}
	}
	if unknown == 0 {
		t.Error("everything is known: that an unknown figure is empty is not tested")
	}
	for name, v := range samples() {
		if _, err := csv.NewReader(bytes.NewReader(written(t, "csv", v))).ReadAll(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An infinite time is one in every format: a word in those for readers, a number for programs. Benchstat, which knows none, gets no
// other time in its place.
func TestInfiniteTimesAreWritten(t *testing.T) {
	f := resulttest.FileOf(resulttest.Overloaded(2000, 3000))
	for _, format := range []string{"markdown", "html", "summary"} {
		if text := string(written(t, format, f)); !strings.Contains(text, "infinite") {
			t.Errorf("%s: %s", format, text)
		}
	}
	if text := string(written(t, "bench", f)); strings.Contains(text, "acquire-p50-ns") || !strings.Contains(text, "rounds/s") {
		t.Error(text)
	}
	c := compared()
	c.Changes = []results.Change{{Figure: "acquire.response.p50", Unit: "ns", NewInfinite: true, Base: 5, Verdict: results.Regression}, {Figure: "x", Verdict: results.Invalid}}
	for _, c := range []struct {
		of   results.Result
		want map[string]string // in the first row
	}{
		{f, map[string]string{"acquire.response.p50_ns": "+Inf", "acquire.response.p99_ns": "+Inf", "acquire.service.p50_ns": "2000895"}},
		{resulttest.FileOf(resulttest.Overloaded(0, 150)), map[string]string{"acquire.response.p50_ns": "+Inf", "acquire.response.p99_ns": "+Inf", "acquire.service.p50_ns": ""}},
		{c, map[string]string{"base_median": "5", "new_median": "+Inf"}},
	} {
		rows, err := csv.NewReader(bytes.NewReader(written(t, "csv", c.of))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for head, want := range c.want {
			if at := slices.Index(rows[0], head); at < 0 || rows[1][at] != want {
				t.Errorf("%s is %q, want %q", head, rows[1], want)
			}
		}
	}
}

// Every setting of a run is a column of the CSV and a property in JUnit, even of a flag that neither format
// knows.
func TestEverySettingIsInCSVAndJUnit(t *testing.T) {
	r := lock("predecessor", "recipe", 1200, 1, 64*time.Microsecond)
	r.Settings = map[string]string{"hold": "1ms", "warmup": "200ms", "brand-new": "seven"}
	f := fileOf(r)
	rows, err := csv.NewReader(bytes.NewReader(written(t, "csv", f))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for head, want := range map[string]string{"setting_brand_new": "seven", "setting_hold": "1ms", "setting_warmup": "200ms"} {
		if at := slices.Index(rows[0], head); at < 0 || rows[1][at] != want {
			t.Errorf("CSV has no %s of %s: %q", head, want, rows)
		}
	}
	junit := string(written(t, "junit", f))
	for name, want := range map[string]string{"brand-new": "seven", "hold": "1ms", "warmup": "200ms"} {
		if !strings.Contains(junit, `<property name="`+name+`" value="`+want+`">`) {
			t.Errorf("JUnit has no property %s of %s: %s", name, want, junit)
		}
	}
}
