package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/duet"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/shortage"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/workloads"
)

// runConcurrently makes the two runs of each pair take place at the same time, as package duet
// describes. It refuses what cannot be measured so.
func (d *pairedRuns) runConcurrently(asked *pflag.FlagSet) error {
	base, other := d.variants[0], d.variants[1]
	for _, name := range []string{spec.MetricsFlag, spec.ListenFlag, "noise"} {
		if asked.Changed(name) {
			why := "each run is a process of its own, which exports nothing"
			if name == "noise" {
				why = "stampede calibrate measures the noise of runs by turns"
			}
			return cli.Flagf(name, "has no effect with --duet: %s", why)
		}
	}
	switch {
	case base.flags.WindowRounds() > 0 || other.flags.WindowRounds() > 0:
		return cli.Usagef("--duet and --rounds: give one of them, since the runs of a pair are measured in the same seconds")
	case base.flags.Run.Duration != other.flags.Run.Duration:
		return cli.Usagef("--duet: BASE is measured for %v and CANDIDATE for %v: both need the same duration, since they are measured in the same seconds",
			base.flags.Run.Duration, other.flags.Run.Duration)
	}
	if shared := base.source.SharedServer(other.source); shared != "" {
		return cli.Usagef("--duet: BASE and CANDIDATE both use %s: each needs a service of its own", shared)
	}
	halves, err := duet.OfThisMachine()
	if err != nil {
		return cli.Usagef("--duet %w", err)
	}
	d.duet = &results.Duet{Processors: halves, Pairs: []results.DuetPair{}}
	return nil
}

// ownProcess reports whether each run of the variant is done by a process of its own.
func (d *pairedRuns) ownProcess(s variant) bool { return d.duet != nil || s.binary != "" }

// apart warns about pairs that did not take place at the same time.
func (j *comparison) apart() []results.Warning {
	if j.duet == nil {
		return nil
	}
	return compare.Apart(*j.duet, j.variants[0].flags.Run.Duration)
}

// kindOfPairs says how the runs of a pair follow each other.
func (d *pairedRuns) kindOfPairs() string {
	if d.duet != nil {
		return "pairs of runs at the same time"
	}
	return "interleaved pairs"
}

// together does the two runs of a pair, the nth of all, at the same time.
func (d *pairedRuns) together(ctx context.Context, level int, seed uint64, newFirst bool, nth int) (runs [2]results.Run, err error) {
	d.progress.note("base and candidate together")
	p, err := d.startPair(ctx, level, seed, newFirst)
	if err == nil {
		err = p.play(ctx)
	}
	if err := p.end(err); ctx.Err() != nil {
		return runs, workloads.ErrInterrupted
	} else if err != nil {
		return runs, err
	}
	for i := range runs {
		runs[i] = p.runs[i]
		runs[i].Order = nth + 1
	}
	excludeOtherSide(&runs)
	d.duet.Pairs = append(d.duet.Pairs, p.DuetPair)
	d.course.end(2)
	return runs, nil
}

// A duetPair is a pair of runs at the same time, the base first.
type duetPair struct {
	children [2]*childRun
	sides    [2]*duet.Side
	halves   duet.Halves // those on which base and candidate begin
	duration time.Duration
	cancel   context.CancelFunc // ends the sides
	runs     [2]results.Run
	results.DuetPair
}

// startPair starts both sides. It returns those that it has started, also with an error.
func (d *pairedRuns) startPair(ctx context.Context, level int, seed uint64, newFirst bool) (*duetPair, error) {
	p := &duetPair{halves: d.duet.Processors, duration: d.variants[0].flags.Run.Duration}
	if newFirst {
		slices.Reverse(p.halves[:])
	}
	ctx, p.cancel = context.WithCancel(ctx)
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	for i, s := range d.variants {
		if s.binary != "" {
			p.children[i] = s.child(ctx, s.binary, s.flagsAt(level, seed))
		} else {
			p.children[i] = s.child(ctx, self, s.flagsAt(level, seed))
			p.children[i].Args[0] = os.Args[0]
		}
		if p.sides[i], err = duet.Start(p.children[i].Cmd, p.halves[i]); err != nil {
			return p, p.children[i].failed(err)
		}
	}
	return p, nil
}

// play lets both sides open their windows at the same time, and exchanges their processors in the middle.
func (p *duetPair) play(ctx context.Context) error {
	for _, s := range p.sides {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	for _, s := range p.sides {
		if err := s.Release(); err != nil {
			return err
		}
	}
	var opened [2]time.Time
	for i, s := range p.sides {
		var err error
		if opened[i], err = s.Opened(); err != nil {
			return err
		}
	}
	p.ApartNS = opened[1].Sub(opened[0]).Abs()
	last := slices.MaxFunc(opened[:], time.Time.Compare)
	select {
	case <-time.After(time.Until(last.Add((p.duration - p.ApartNS) / 2))):
	case <-ctx.Done():
		return nil
	}
	for i, s := range p.sides {
		if err := duet.Move(s.Process.Pid, p.halves[1-i]); err != nil {
			return err
		}
	}
	p.SwappedNS = time.Since(last)
	return nil
}

// end waits until both sides have ended and reads their results. If the pair is broken, it ends them
// first. Of several errors it returns what a side said, since a side that ends early breaks the pair.
func (p *duetPair) end(broken error) error {
	defer p.cancel()
	if broken != nil {
		p.cancel()
	}
	var failed error
	for i, s := range p.sides {
		if s == nil {
			continue
		}
		ended := s.Wait()
		if broken != nil && s.ProcessState.ExitCode() == 128+int(syscall.SIGTERM) {
			continue // it was told to end
		}
		run, err := p.children[i].result(ended)
		switch {
		case err == nil:
			p.runs[i] = *run
		case failed == nil:
			failed = err
			broken = cmp.Or(broken, err)
			p.cancel()
		}
	}
	return cmp.Or(failed, broken)
}

// excludeOtherSide corrects what each run of a pair tells of other programs: the other side of the
// pair has processors of its own, so it did not take any from the run. The kernel's counters, which
// each run reads, do not tell it from foreign programs. What the machine did as a whole concerns both
// sides together, so neither run keeps a warning about that.
func excludeOtherSide(runs *[2]results.Run) {
	var used [2]float64
	for i, r := range runs {
		used[i] = r.Generator.CPUCores
		if m := r.Generator.Machine; m != nil {
			used[i] += m.StartedCores
		}
	}
	for i := range runs {
		r := &runs[i]
		m := r.Generator.Machine
		if m == nil {
			continue
		}
		m.OtherCores = max(m.OtherCores-used[1-i], 0)
		r.Warnings = ofOneSide(r.Warnings, *m)
		r.Doubts = ofOneSide(r.Doubts, *m)
	}
}

// ofOneSide returns the warnings that hold for one side of a pair.
func ofOneSide(all []results.Warning, m results.Machine) []results.Warning {
	kept := []results.Warning{}
	for _, w := range all {
		switch w.Code {
		case metrics.Shared:
			continue
		case metrics.Others:
			if m.OtherCores <= shortage.MostForeign*m.Cores {
				continue
			}
			numbers := metrics.Numbers(w.Numbers)
			numbers["others_cores"] = m.OtherCores
			w = results.WarningOf(metrics.Warning{Code: w.Code, Numbers: numbers, Names: w.Names})
		}
		kept = append(kept, w)
	}
	return kept
}

// childGrace is how long another stampede may take to end its run and remove its nodes after
// SIGTERM.
const childGrace = 20 * time.Second

// A childRun is one run by another process: another stampede binary, or this one.
type childRun struct {
	*exec.Cmd
	program        string // for errors; "" for this program
	stdout, stderr bytes.Buffer
}

// runBinary runs another stampede binary for one run and reads its result.
func (s variant) runBinary(ctx context.Context, f spec.Flags) (*results.Run, error) {
	child := s.child(ctx, s.binary, f)
	ended := child.Run()
	if ctx.Err() != nil {
		return nil, workloads.ErrInterrupted
	}
	return child.result(ended)
}

// child returns the command of one run by a program, which is not started. It ends with the context.
func (s variant) child(ctx context.Context, program string, f spec.Flags) *childRun {
	child := &childRun{Cmd: exec.CommandContext(ctx, program, childArguments(f, s.form.Recipe)...), program: s.binary}
	child.Stdout, child.Stderr, child.Env = &child.stdout, &child.stderr, childEnvironment(f)
	if s.binary == "" { // an older program would refuse the variable; both read the same file as this process
		child.Env = append(child.Env, defaults.Variable+"="+defaults.Off)
	}
	// The child has its own process group, so that an interruption from the terminal reaches only
	// this process, which passes it on once: a second signal would kill the child before it removes
	// its nodes.
	//
	// Note: the parent-death signal (PDEATHSIG) is not used. The kernel would send it when the
	// thread that started the child ends, which may be long before this process ends. Without it, a
	// child whose parent was killed still ends its run and removes its nodes.
	child.SysProcAttr = reexec.OwnGroup()
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = childGrace
	return child
}

// result reads the result of a child that has ended in this way.
func (c *childRun) result(ended error) (*results.Run, error) {
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() >= cli.ExitViolation && exit.ExitCode() <= cli.ExitThreshold {
		ended = nil // the run completed; the exit code is its verdict
	}
	if ended != nil {
		return nil, c.failed(fmt.Errorf("%w: %s", ended, lastLine(c.stderr.String())))
	}
	file, err := results.Read(&c.stdout)
	if err != nil {
		return nil, c.failed(err)
	}
	if len(file.Runs) != 1 {
		return nil, c.failed(fmt.Errorf("%d runs in its result, want one", len(file.Runs)))
	}
	return &file.Runs[0], nil
}

func (c *childRun) failed(err error) error {
	if c.program == "" {
		return err
	}
	return fmt.Errorf("%s: %w", c.program, err)
}

func childArguments(f spec.Flags, recipe string) []string {
	line := f.Command([]string{recipe})[1:]
	if at := slices.Index(line, "--user"); at >= 0 {
		line = slices.Delete(line, at, at+2) // the value is redacted; childEnvironment passes the user in a variable
	}
	return append(line, "-o", "json", "--no-save", "--quiet")
}

// childEnvironment returns the environment without the variables that stand for flags: the
// arguments already carry their values. It keeps the variable that names the project's defaults, and the password variable only if a user is given
// whose password is not in a file.
func childEnvironment(f spec.Flags) []string {
	needed := f.Security.User != "" && f.Security.PasswordFile == ""
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "STAMPEDE_") && !strings.HasPrefix(v, defaults.Variable+"=") && !(needed && strings.HasPrefix(v, spec.PasswordVariable+"="))
	})
	if f.Security.User != "" {
		env = append(env, "STAMPEDE_USER="+f.Security.User)
	}
	return env
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "stampede: ")
}
