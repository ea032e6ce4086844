package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/workloads"
)

// plainEvery is the interval of progress lines on an output that is not a terminal.
const plainEvery = 10 * time.Second

// A progress reports the progress of runs on standard error: one line that is redrawn on a
// terminal, a plain line now and then elsewhere, nothing if quiet.
type progress struct {
	w      io.Writer
	redraw bool
	quiet  bool
	last   time.Time // when the last plain line was printed
	cores  float64   // of the machines that have the clients
	course *course
}

func newProgress(w io.Writer, quiet bool, c *course) *progress {
	return &progress{w: w, quiet: quiet, redraw: cli.IsTerminal(w), last: time.Now(), cores: metrics.Cores(), course: c}
}

// redrawn replaces the line on the terminal by text.
func (p *progress) redrawn(text string) {
	w := p.w
	if s, ok := w.(cli.Screen); ok {
		w = s.File // the file itself, since a screen would show the control sequences as text
	}
	fmt.Fprint(w, "\r\x1b[K"+printable.Text(text))
}

// following returns the observer that reports a run's progress.
func (p *progress) following(form workloads.Form, clients int, f spec.Flags) observer {
	return observer{progress: func(now workloads.Progress) { p.run(form, clients, f, now) }, joining: p.joining(form, clients)}
}

// joining returns what reports how many sessions of a run are open.
func (p *progress) joining(form workloads.Form, clients int) func(open, sessions int) {
	return func(open, sessions int) {
		p.note(fmt.Sprint(form), units.Clients(clients), fmt.Sprintf("%d of %d sessions are open", open, sessions))
	}
}

func (p *progress) run(form workloads.Form, clients int, f spec.Flags, s workloads.Progress) {
	of := units.Elapsed(s.Elapsed, f.Run.Duration)
	if s.Elapsed > f.Run.Duration && s.Rounds < spec.LeastRounds && !f.Load.IsOpen() {
		of = fmt.Sprintf("%.1f s, until %d rounds have ended", s.Elapsed.Seconds(), spec.LeastRounds)
	}
	if f.Run.Rounds > 0 {
		of = fmt.Sprintf("%s of %s rounds", units.Count(s.Rounds), units.Count(f.Run.Rounds))
	}
	parts := []string{fmt.Sprint(form), units.Clients(clients)}
	if s.Errors > 0 {
		parts = append(parts, units.CountOf(s.Errors, "error"))
	}
	p.note(append(parts, of, units.Rate(float64(s.Rounds)/s.Elapsed.Seconds())+" rounds/s", lapTimes(s.Lap),
		fmt.Sprintf("client %.1f of %.3g cores", s.CPUCores, p.cores))...)
}

// A lapPercentile is one percentile of a lap, 0 if the lap has too few observations for it.
type lapPercentile struct {
	name  string
	value time.Duration
}

func lapPercentiles(l metrics.Lap) []lapPercentile {
	return []lapPercentile{{"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}}
}

// lapTimes returns the highest known percentile of the lap: "acquire p90 1.20 ms".
func lapTimes(l metrics.Lap) string {
	text := levels.PhaseName(l.Phase) + " n/a"
	for _, of := range lapPercentiles(l) {
		if of.value > 0 {
			text = levels.PhaseName(l.Phase) + " " + of.name + " " + units.Duration(of.value)
		}
	}
	return text
}

// note reports the parts of what is in progress, after the run's number. The most important part comes first;
// the last ones are left out if the line is full.
func (p *progress) note(parts ...string) {
	if p.quiet || !p.redraw && time.Since(p.last) < plainEvery {
		return
	}
	if place := p.course.place().String(); place != "" {
		parts = append([]string{place}, parts...)
	}
	text := fitting(parts, cli.Columns(p.w))
	if p.redraw {
		p.redrawn(text)
		return
	}
	p.last = time.Now()
	fmt.Fprintln(p.w, text)
}

// mostColumns is the greatest length of a line of progress, also on a wider terminal.
const mostColumns = 120

// fitting joins the first parts that fit into a line of a terminal with a number of columns, 0 if that
// is not known. The last column stays free: some terminals wrap a line that fills it.
func fitting(parts []string, columns int) string {
	if columns == 0 || columns > mostColumns {
		columns = mostColumns + 1
	}
	line := parts[0]
	for _, part := range parts[1:] {
		longer := line + " · " + part
		if utf8.RuneCountInString(longer) >= columns {
			break
		}
		line = longer
	}
	return line
}

// clear removes the redrawn line.
func (p *progress) clear() {
	if p.redraw && !p.quiet {
		p.redrawn("")
	}
}

// An observer follows runs in progress: as metrics, on the live page, as a line of progress, or to
// check abort conditions. It leaves out the functions that it does not need.
type observer struct {
	expect   func(next []results.Setting) // the runs that come next
	begin    func(observedRun, *workloads.Live)
	progress func(workloads.Progress)
	joining  func(open, sessions int)           // the sessions of a run are being opened
	end      func(observedRun, *metrics.Record) // not called for a run that measured nothing
}

// An observedRun is a run as its observers see it: its plan, and what its result records of that.
type observedRun struct {
	plan    workloads.Plan
	setting results.Setting
}

// drive executes the plan while the command's observers, and those of this run, follow it.
func (a *app) drive(ctx context.Context, run observedRun, ofRun []observer) (*metrics.Record, error) {
	all, p := slices.Concat(a.observers, ofRun), run.plan
	p.Progress, p.Settings.Joining = progressOf(all), joiningOf(all)
	if slices.ContainsFunc(all, func(o observer) bool { return o.begin != nil }) {
		p.Watch = func(l *workloads.Live) {
			for _, o := range all {
				if o.begin != nil {
					o.begin(run, l)
				}
			}
		}
	}
	record, err := workloads.Run(ctx, p)
	for _, o := range all {
		if o.end != nil && record != nil {
			o.end(run, record)
		}
	}
	return record, err
}

// progressOf returns what reports the progress of a run to the observers.
func progressOf(all []observer) func(workloads.Progress) {
	return func(now workloads.Progress) {
		for _, o := range all {
			if o.progress != nil {
				o.progress(now)
			}
		}
	}
}

// joiningOf returns what reports to the observers how many sessions are open.
func joiningOf(all []observer) func(open, sessions int) {
	return func(open, sessions int) {
		for _, o := range all {
			if o.joining != nil {
				o.joining(open, sessions)
			}
		}
	}
}

// exporting returns the observer that exports runs as metrics.
func exporting(c *export.Collector) observer {
	return observer{
		begin: func(run observedRun, l *workloads.Live) { c.Begin(exported(run), l) },
		end:   func(run observedRun, r *metrics.Record) { c.End(exported(run), *r) },
	}
}

// exported returns the labels of a run's metrics.
func exported(run observedRun) export.Run {
	s := run.setting
	labels := export.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: s.Backend.Name, Clients: s.Clients}
	if rate := run.plan.Open.Rate; rate.Open() {
		labels.Rate = rate.String() + "/s"
	}
	return labels
}

// showing returns the observer that shows the runs of a course on a page.
func showing(page *live.Page, c *course) observer {
	shown := func(run observedRun) live.Run {
		return live.Run{Setting: run.setting, Duration: run.plan.Duration, Rounds: run.plan.Rounds, Ahead: c.place().String}
	}
	return observer{
		expect: func(next []results.Setting) {
			var runs []live.Run
			for _, s := range next {
				runs = append(runs, live.Run{Setting: s, Ahead: c.place().String})
			}
			page.Expect(runs...)
		},
		begin: func(run observedRun, l *workloads.Live) { page.Begin(shown(run), l) },
		end:   func(run observedRun, r *metrics.Record) { page.End(shown(run), *r) },
	}
}
