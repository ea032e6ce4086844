package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// An event is one line of go test -json. See go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // instead of Package, of build output
	Test        string // empty where the event concerns the package
	Elapsed     float64
	Output      string
	FailedBuild string
}

// A report prints a line for each package as it ends, with the output of the tests
// that failed, and a summary.
type report struct {
	out      io.Writer
	output   map[string][]string // by package and test, until the result is known
	builds   map[string][]string // output of the compiler, by import path
	packages []timing
	tests    []timing            // without subtests
	skipped  map[string][]string // test names by reason
	passed   int
	failed   int
	failures []*failure // also those that passed alone
}

// A timing is the duration of a package's tests.
type timing struct {
	name    string
	seconds float64
	cached  bool
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, output: map[string][]string{}, builds: map[string][]string{},
		skipped: map[string][]string{},
	}
}

// read reads the events until they end.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what go test says: %w", err)
		}
	}
}

// line processes one line. It prints a line that is not an event unchanged.
func (r *report) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		r.out.Write(line)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case "output":
		r.output[key] = append(r.output[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(e)
		}
		delete(r.output, key)
	}
}

func (r *report) endTest(e event) {
	output := r.output[e.Package+" "+e.Test]
	if !strings.Contains(e.Test, "/") {
		r.tests = append(r.tests, timing{name: short(e.Package) + " " + e.Test, seconds: e.Elapsed})
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.fail(e, output)
		fmt.Fprint(r.out, strings.Join(said(output), ""))
	case "skip":
		why := reason(output)
		r.skipped[why] = append(r.skipped[why], short(e.Package)+" "+e.Test)
	}
}

// endPackage counts a package that does not compile, or whose process ends before its tests, as one failure. The
// tests of any other one end with a line of their own.
func (r *report) endPackage(e event) {
	output := r.output[e.Package+" "]
	cached := slices.ContainsFunc(output, func(o string) bool { return strings.Contains(o, "(cached)") })
	t := timing{short(e.Package), e.Elapsed, cached}
	verdict := "ok"
	switch e.Action {
	case "skip": // no test files
		return
	case "fail":
		verdict = "FAIL"
		if !slices.Contains(output, "FAIL\n") {
			output = append(r.unended(e.Package), output...)
			r.endedEarly(e.Package, append(slices.Clone(r.builds[e.FailedBuild]), output...))
		}
		fmt.Fprint(r.out, strings.Join(r.builds[e.FailedBuild], ""), strings.Join(said(output), ""))
	}
	fmt.Fprintf(r.out, "%-5s %-28s %s\n", verdict, t.name, t)
	r.packages = append(r.packages, t)
}

// unended returns what the tests of a package said that have not ended: the stacks, if their time was over.
func (r *report) unended(pkg string) (output []string) {
	for _, key := range slices.Sorted(maps.Keys(r.output)) {
		if of, test, _ := strings.Cut(key, " "); of == pkg && test != "" {
			output = append(output, r.output[key]...)
			delete(r.output, key)
		}
	}
	return output
}

// listed is the number of tests that are listed, the slowest ones, and budget the time that all packages
// together should take in make test.
const (
	listed = 40
	budget = 300 * time.Second
)

// finish prints the summary: the packages and the slow tests with the slowest first, the skipped tests,
// and the number of tests and subtests.
func (r *report) finish(took time.Duration) {
	fmt.Fprintf(r.out, "\n%d packages in %s, the slowest first:\n", len(r.packages), took.Round(time.Second))
	list(r.out, r.packages)
	sum := 0.0
	for _, p := range r.packages {
		sum += p.seconds
	}
	fmt.Fprintf(r.out, "together %.0f s; make test should take %.0f s\n", sum, budget.Seconds())
	r.tests = slices.DeleteFunc(r.tests, func(t timing) bool { return t.seconds < 0.05 }) // it would be listed as 0.0 s
	if len(r.tests) > 0 {
		fmt.Fprintf(r.out, "\nthe slowest tests:\n")
		slices.SortStableFunc(r.tests, longer)
		list(r.out, r.tests[:min(listed, len(r.tests))])
	}
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(r.out, "\nskipped, %s:\n", why)
		for _, line := range folded(r.skipped[why]) {
			fmt.Fprintf(r.out, "  %s\n", line)
		}
	}
	if flaky := len(r.flaky()); flaky > 0 {
		fmt.Fprintf(r.out, "\n%d FLAKY: see above\n", flaky)
	}
	total := 0
	for _, tests := range r.skipped {
		total += len(tests)
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, total)
}

// flaky returns the tests that failed and then passed alone.
func (r *report) flaky() []*failure {
	return slices.DeleteFunc(slices.Clone(r.failures), func(f *failure) bool { return !f.flaky })
}

// list prints timings, the longest first.
func list(out io.Writer, all []timing) {
	slices.SortStableFunc(all, longer)
	for _, t := range all {
		fmt.Fprintf(out, "  %8s  %s\n", t, t.name)
	}
}

// longer sorts the longest timing first.
func longer(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) }

// String returns the time in seconds, or "(cached)" for a cached result.
func (t timing) String() string {
	if t.cached {
		return "(cached)"
	}
	return fmt.Sprintf("%.1f s", t.seconds)
}

// reason returns the last output of a skipped test, without the file and line.
func reason(output []string) string {
	for _, line := range slices.Backward(said(output)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, after, ok := strings.Cut(line, "] skip '"); ok { // a testscript's command
			return strings.TrimSuffix(after, "'")
		}
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			_, line, _ = strings.Cut(after, ": ")
		}
		return line
	}
	return "no reason given"
}

// said returns the output without go test's own lines about tests that run or pause.
func said(output []string) []string {
	return slices.DeleteFunc(slices.Clone(output), func(line string) bool { return strings.HasPrefix(line, "=== ") })
}

// folded returns a line for each test, with the number of its subtests if those were skipped.
func folded(tests []string) (lines []string) {
	subtests := map[string]int{}
	for _, t := range tests {
		pkg, name, _ := strings.Cut(t, " ")
		if top, _, sub := strings.Cut(name, "/"); sub {
			subtests[pkg+" "+top]++
		} else {
			lines = append(lines, t)
		}
	}
	for top, n := range subtests {
		lines = append(lines, fmt.Sprintf("%s, %d of its subtests", top, n))
	}
	slices.Sort(lines)
	return lines
}

const module = "github.com/stampede-bench/stampede/"

// short returns the import path without the module.
func short(importPath string) string {
	return strings.TrimPrefix(importPath, module)
}
