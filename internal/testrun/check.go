package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/internal/parts"
	"github.com/stampede-bench/stampede/metrics"
)

// checksFile has a line for each part of make check that was run to its end.
const checksFile = ".ci/checks.jsonl"

// A record says how a part of make check ended.
type record struct {
	Part    string    `json:"part"`
	Commit  string    `json:"commit"`
	Changed bool      `json:"changed,omitempty"` // the tree was not that of the commit
	Ended   time.Time `json:"ended"`
	Seconds int       `json:"seconds"`
	Cores   int       `json:"cores"`
	// Stolen is the share of the processors' time that the hypervisor gave to other machines; nil where the kernel
	// does not say.
	Stolen  *float64       `json:"stolen,omitempty"`
	Passed  int            `json:"passed"` // tests, subtests and commands
	Failed  []string       `json:"failed,omitempty"`
	Flaky   []string       `json:"flaky,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"` // tests by reason
}

// check runs the parts with the names, one after the other, or all. A part that fails does not keep the next from
// being run; one that is interrupted leaves no record.
func check(ctx context.Context, names []string) (code int, err error) {
	chosen, err := parts.Named(names)
	if err != nil {
		return 2, err
	}
	packages, err := packagesWithTests(ctx)
	if err != nil {
		return 1, err
	}
	for _, p := range chosen {
		fmt.Printf("== %s: %s\n", p.Name, p.What)
		before, err := stateOf(ctx)
		if err != nil {
			return 1, err
		}
		began, machine := time.Now(), metrics.StartSampler(owner.Service{})
		r := newReport(os.Stdout)
		c, err := runPart(ctx, r, p, packages)
		g := machine.Stop()
		if len(r.packages) > 0 {
			r.finish(time.Since(began))
		}
		code = cmp.Or(code, c)
		if err != nil || ctx.Err() != nil {
			return max(code, 1), errors.Join(err, context.Cause(ctx))
		}
		done := recordOf(r, p.Name, before)
		done.Ended = time.Now().UTC().Truncate(time.Second)
		done.Seconds = int(time.Since(began).Seconds())
		if m := g.Machine; m != nil && m.Cores > 0 {
			share := float64(int(1000*m.Stolen/m.Cores)) / 1000
			done.Stolen = &share
		}
		if err := done.add(checksFile); err != nil {
			return 1, err
		}
		fmt.Printf("== %s: %s in %s\n", p.Name, done.outcome(), time.Since(began).Round(time.Second))
	}
	return code, nil
}

// runPart runs the tests of a part and its commands.
func runPart(ctx context.Context, r *report, p parts.Part, packages []string) (code int, err error) {
	if calls := p.Calls(packages, hasDetector(ctx)); len(calls) > 0 {
		if code, err = besideServers(ctx, r, calls, p.Env); err != nil {
			return code, err
		}
	}
	for _, line := range p.Commands {
		if ctx.Err() != nil {
			return code, nil
		}
		command := exec.CommandContext(ctx, line[0], line[1:]...)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
		if err := command.Run(); err != nil {
			code = cmp.Or(code, 1)
			r.failed++
			r.failures = append(r.failures, &failure{test: strings.Join(line, " "), message: err.Error(), count: 1, final: true})
			continue
		}
		r.passed++
	}
	return code, nil
}

// recordOf returns what a report has found.
func recordOf(r *report, part string, before state) *record {
	done := &record{Part: part, Commit: before.commit, Changed: before.changed, Cores: runtime.NumCPU(), Passed: r.passed}
	for _, f := range r.failures {
		if f.flaky {
			done.Flaky = append(done.Flaky, f.String())
		} else {
			done.Failed = append(done.Failed, f.String())
		}
	}
	for why, tests := range r.skipped {
		if done.Skipped == nil {
			done.Skipped = map[string]int{}
		}
		done.Skipped[why] = len(tests)
	}
	return done
}

// outcome says in some words how the part ended.
func (done *record) outcome() string {
	skipped := 0
	for _, n := range done.Skipped {
		skipped += n
	}
	text := fmt.Sprintf("%d passed, %d failed, %d FLAKY, %d skipped", done.Passed, len(done.Failed), len(done.Flaky), skipped)
	if done.Changed {
		text += ", with changes that are not committed"
	}
	return text
}

// add adds the record to a file.
func (done *record) add(path string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(done), file.Close())
}

// A state is the commit that is checked out, and whether the tree differs from it.
type state struct {
	commit  string
	changed bool
}

func stateOf(ctx context.Context) (s state, err error) {
	commit, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return s, err
	}
	changes, err := output(ctx, "git", "status", "--porcelain", "--", ".", ":!"+checksFile)
	return state{strings.TrimSpace(commit), changes != ""}, err
}

// packagesWithTests returns the paths in the module of all packages that have tests.
func packagesWithTests(ctx context.Context) (packages []string, err error) {
	const tested = `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}`
	list, err := output(ctx, "go", "list", "-f", tested, "./...")
	for _, path := range strings.Fields(list) {
		packages = append(packages, short(path))
	}
	return packages, err
}

// hasDetector reports whether the race detector works here: it needs a C compiler.
func hasDetector(ctx context.Context) bool {
	cgo, err := output(ctx, "go", "env", "CGO_ENABLED")
	return err == nil && strings.TrimSpace(cgo) == "1"
}

// output runs a program and returns what it prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(complaint.String()))
	}
	return string(out), err
}

// listChecks prints how long ago each part was run, and how it ended.
func listChecks(out io.Writer) error {
	file, err := os.Open(checksFile)
	if errors.Is(err, os.ErrNotExist) {
		file, err = os.Open(os.DevNull)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	newest, err := newestChecks(file)
	if err != nil {
		return err
	}
	return printChecks(out, newest, func(commit string) string {
		count, err := output(context.Background(), "git", "rev-list", "--count", commit+"..HEAD")
		if err != nil {
			return "n/a"
		}
		return strings.TrimSpace(count)
	})
}

// newestChecks reads the file of checks and returns the last record of each part.
func newestChecks(file io.Reader) (newest map[string]*record, err error) {
	newest = map[string]*record{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		done := new(record)
		if err := json.Unmarshal(lines.Bytes(), done); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", checksFile, n, err)
		}
		newest[done.Part] = done
	}
	return newest, lines.Err()
}

// printChecks prints a row for each part, and below them what failed. since returns the number of commits since one.
func printChecks(out io.Writer, newest map[string]*record, since func(commit string) string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "part\tcommit\tcommits since\tended\ttook\tresult")
	var red []string
	for _, name := range parts.Names() {
		done := newest[name]
		if done == nil {
			fmt.Fprintf(table, "%s\tnever run\n", name)
			continue
		}
		took := time.Duration(done.Seconds) * time.Second
		fmt.Fprintf(table, "%s\t%.8s\t%s\t%s\t%s\t%s\n", name, done.Commit, since(done.Commit), done.Ended.Format("2006-01-02 15:04"), took, done.outcome())
		for _, f := range done.Failed {
			red = append(red, "FAIL   "+name+": "+f)
		}
		for _, f := range done.Flaky {
			red = append(red, "FLAKY  "+name+": "+f)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range red {
		fmt.Fprintln(out, line)
	}
	return nil
}
