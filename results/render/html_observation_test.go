package render

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
)

// hostile is a path that a program under observation has chosen.
const hostile = `/locks/<script>alert("x")</script>`

func watched() results.Observation {
	measured, limit := 23.0, 5.0
	o := results.Observation{Head: results.NewHead(results.KindObservation, results.Tool{Version: "1.2.3"}, nil, []string{"observe"}, 0)}
	o.Backend, o.Source = "native:", "proxy"
	o.Observed = observation.Report{
		Duration: 41 * time.Second,
		Traffic:  observation.Traffic{Clients: 3, Sessions: 24, Requests: 18203, Changes: 46, FanoutP50: 1, FanoutMax: 23},
		Places: []observation.Place{{Path: hostile, Sessions: 24, Changes: 6, FanoutP50: 23, FanoutMax: 23,
			Form: &observation.Form{Name: "lock or election, one node", Herd: true, Instead: "predecessor", Wakes: 1, Evidence: "24 sessions watch " + hostile}}},
		Operations: []observation.Operation{{Name: "create", Requests: 140}},
	}
	o.Gates = []results.Gate{{Text: "fanout.max <= 5", Subject: hostile, Op: "<=", Measured: &measured, Limit: &limit, Verdict: results.Fail}}
	o.Verdict = results.Fail
	return o
}

// The page of an observation has its finding, thresholds and tables, and shows what programs have
// chosen as text.
func TestObservation(t *testing.T) {
	page, _ := pageOf(t, watched())
	for _, want := range []string{"HERD: one change of /locks/", ">fanout.max &lt;= 5</td>", "≤ 5", ">paths</caption>", ">operations</caption>",
		"all traffic was seen and analysed", "&lt;script&gt;alert"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, want := range []string{"What to do", `docs/recipes/lock.md#predecessor"`, "fanout.max &lt;= 1"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("the page has %q %d times, want once", want, strings.Count(page, want))
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("a path became a script")
	}
	lossy := watched()
	lossy.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Dropped, Packets: 7}}
	page, _ = pageOf(t, lossy)
	if !strings.Contains(page, "7 packets: dropped by the kernel") || strings.Contains(page, "all traffic was seen") {
		t.Error("the page does not say that packets were dropped")
	}
}

// The page of an observation in progress loads its script, and claims nothing about a capture that only its end can tell.
func TestObservationInProgress(t *testing.T) {
	for source, claim := range map[string]string{"proxy": "all traffic was seen and analysed", "capture file": "whether packets were lost is known when the capture ends"} {
		o := watched()
		o.Source = source
		var page strings.Builder
		if err := WriteSoFar(&page, o, "refresh.js"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{claim, `<script src="refresh.js" defer></script>`, `id="progress"`} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("by %s: the page has no %q", source, want)
			}
		}
	}
	o := watched()
	o.Source = "capture file"
	o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Missing, Bytes: 100}}
	if d := document.SoFar(o); len(d.Notes) != 1 || d.Notes[0].Page == "" || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "100 B: missing in the capture") {
		t.Errorf("a gap is not told: %+v", d)
	}
	if page, _ := pageOf(t, watched()); strings.Contains(page, "refresh.js") || strings.Contains(page, "progress") {
		t.Error("a report that is complete loads the script")
	}
}

// The first screen of an observation has the badges and what to do, before thresholds and charts.
func TestObservationInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	o := watched()
	for i := range 3 {
		o.Observed.Largest = append(o.Observed.Largest, observation.Change{At: o.Started.Add(time.Duration(i) * time.Second), Path: hostile, Woke: 23, Op: "delete"})
	}
	page, _ := pageOf(t, o)
	ctx := browser.Start(t)
	for _, at := range []struct {
		width  int64
		scheme string
		first  []string // what begins on the first screen, from top to bottom
	}{
		{1280, "dark", []string{"badges", "advice", "thresholds", "charts"}},
		{390, "light", []string{"badges", "advice", "thresholds"}},
	} {
		s := see(t, ctx, page, at.width, browser.Shown("screen", at.scheme), func(ctx context.Context) {
			if got := onFirstScreen(t, ctx, "charts", "thresholds", "advice", "badges"); !slices.Equal(got, at.first) {
				t.Errorf("%d: the first screen has %q, want %q", at.width, got, at.first)
			}
			badges, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('.badge')].map(b => b.className + ' ' + b.textContent)`))
			if want := []string{"badge bad ✕ Fail", "badge bad ✕ Herd"}; err != nil || !slices.Equal(badges, want) {
				t.Errorf("%d: badges %q, %v; want %q", at.width, badges, err, want)
			}
		})
		for _, fault := range faults(s) {
			t.Errorf("%d: %s", at.width, fault)
		}
	}
}

// A badge says whether there is a herd.
func TestHerdBadge(t *testing.T) {
	for finding, want := range map[string][]badge{
		"HERD: one change of /job wakes up to 7 of 8 sessions.":             {{"Herd", "bad", "✕"}},
		"No herd: a change wakes 1 session at the median and at most 1.":    {{"No herd", "good", "✓"}},
		"NOT KNOWN: one change of /a wakes up to 7; its form is not known.": {{"Not known", "unsure", "?"}},
		"With 8 clients a release wakes 7 in the naive form.":               nil,
	} {
		if got := (page{Document: document.Document{Findings: []string{finding}}}).Badges(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", finding, got, want)
		}
	}
}
