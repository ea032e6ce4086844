package divided_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

const ms = time.Millisecond

var noTimes = metrics.NewDurations()

// at returns a step at a time in milliseconds.
func at(t float64, s check.Step) check.Step {
	s.At = time.Duration(t * float64(ms))
	return s
}

func planOf(t *testing.T, form string, clients int) workloads.Plan {
	t.Helper()
	all := catalog.Forms()
	i := slices.IndexFunc(all, func(f workloads.Form) bool { return f.String() == form })
	if i < 0 {
		t.Fatalf("there is no form %s", form)
	}
	return workloads.Plan{Form: all[i], Clients: clients}
}

// judge judges the steps of two processes: one has the clients with even numbers, the other all others. Their clocks
// are wrong by up to e.
func judge(t *testing.T, r *rand.Rand, form string, clients int, steps []check.Step, e time.Duration) *metrics.Record {
	t.Helper()
	var timed []check.TimedStep
	for process := range 2 {
		offset := time.Duration(r.Int64N(int64(2*e+1))) - e
		for _, s := range steps {
			if s.Client&1 == process {
				timed = append(timed, check.TimedStep{Step: s, Earliest: s.At + offset - e, Latest: s.At + offset + e})
			}
		}
	}
	record := &metrics.Record{Phases: slices.Repeat([]metrics.Phase{{Name: "none", Service: noTimes}}, 5), Fairness: &metrics.Fairness{}}
	divided.Judge(planOf(t, form, clients), record, timed, check.Window{End: time.Hour})
	return record
}

func arrived(client int, point string) check.Step {
	return check.Step{Kind: check.Arrived, Client: client, Name: point}
}

// hold returns the steps of one hold of a shared lock.
func hold(client int, token int64, shared bool, from, to float64) []check.Step {
	return []check.Step{
		at(from-0.5, check.Step{Kind: check.Asked, Client: client, Shared: shared}),
		at(from, check.Step{Kind: check.Granted, Client: client, Token: token}),
		at(to, check.Step{Kind: check.Releasing, Client: client}),
		at(to+0.1, check.Step{Kind: check.Released, Client: client}),
	}
}

func put(client int, item int64, from, to float64) []check.Step {
	return []check.Step{
		at(from, check.Step{Kind: check.Putting, Client: client, Turn: item}),
		at(to, check.Step{Kind: check.Put, Client: client, Turn: item}),
	}
}

func take(client int, item int64, from, to float64) []check.Step {
	return []check.Step{
		at(from, check.Step{Kind: check.Taking, Client: client}),
		at(to, check.Step{Kind: check.Took, Client: client, Turn: item}),
	}
}

// A clockCase has steps whose order across two processes decides whether there is a violation: the step before
// comes 5 ms before the step that it must follow, in bad, and 0.5 ms after it, in good.
type clockCase struct {
	form    string
	clients int
	good    []check.Step
	bad     []check.Step
	detail  string
}

func clockCases() []clockCase {
	barrier := func(passes float64) []check.Step {
		return []check.Step{
			at(1, arrived(0, "waits")), at(2, arrived(1, "waits")), at(10, arrived(2, "opens")),
			at(passes, check.Step{Kind: check.Passed, Client: 1}), at(11, check.Step{Kind: check.Passed, Client: 0}),
		}
	}
	double := func(point string, passes float64) []check.Step {
		return []check.Step{
			at(1, arrived(0, point)), at(10, arrived(1, point)),
			at(passes, check.Step{Kind: check.Passed, Client: 0, Name: point}), at(12, check.Step{Kind: check.Passed, Client: 1, Name: point}),
		}
	}
	commit := func(decides float64) []check.Step {
		return []check.Step{
			at(1, check.Step{Kind: check.Voted, Client: 0, Value: 1}), at(10, check.Step{Kind: check.Voted, Client: 1, Value: 1}),
			at(decides, check.Step{Kind: check.Decided, Client: 0, Value: 1}), at(12, check.Step{Kind: check.Decided, Client: 1, Value: 1}),
		}
	}
	update := func(sees float64) []check.Step {
		return []check.Step{at(10, check.Step{Kind: check.Updating, Client: -1, Turn: 1}), at(sees, check.Step{Kind: check.Saw, Client: 0, Turn: 1})}
	}
	fanout := func(hears float64) []check.Step {
		return []check.Step{
			at(10, check.Step{Kind: check.Updating, Client: 2, Turn: 1}), at(11, check.Step{Kind: check.Written, Client: 2, Turn: 1}),
			at(hears, check.Step{Kind: check.Notified, Client: 1, Turn: 1}), at(12, check.Step{Kind: check.Notified, Client: 0, Turn: 1}),
		}
	}
	// Two producers put one item after the other, the second 5 ms after the first, or both at the same time.
	puts := func(second float64) []check.Step {
		return slices.Concat(put(0, 1, 1, 2), put(1, 2, second, second+1), take(2, 2, 14, 15), take(2, 1, 16, 17))
	}
	shared := func(from float64) []check.Step {
		return slices.Concat(hold(0, 1, true, 1, 10), hold(1, 2, false, from, 20))
	}
	return []clockCase{
		{"barrier/watch", 2, barrier(10.5), barrier(5), "client 2 was past the barrier before it was opened"},
		{"double-barrier/ready", 2, double("enters", 10.5), double("enters", 5), "client 1 was in before all clients arrived"},
		{"double-barrier/ready", 2, double("leaves", 10.5), double("leaves", 5), "client 1 was out before the clients that it waits for wanted to leave"},
		{"two-phase-commit/coordinator", 2, commit(10.5), commit(5), "client 1 committed before all sites voted"},
		{"config/watch", 2, update(10.5), update(5), `client 1 saw "1", which was never written`},
		{"names/cached", 2, update(10.5), update(5), `client 1 saw "1", which was never written`},
		{"mirror/recursive", 2, update(10.5), update(5), `client 1 saw "1", which was never written`},
		{"fanout/one-shot", 2, fanout(10.5), fanout(5), "client 2 was notified of write 1, which was not made"},
		{"queue/cached-list", 4, puts(1.5), puts(7), "client 3 took item 1 after item 2, which was put later"},
		{"shared-lock/nearest", 2, shared(10.5), shared(5), "client 2 held at the same time as client 1"},
	}
}

// TestTheErrorOfClocksNeverAccuses judges correct runs and wrong ones by clocks that are wrong by more than what
// makes them wrong.
func TestTheErrorOfClocksNeverAccuses(t *testing.T) {
	for _, c := range clockCases() {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 1))
			if s := judge(t, r, c.form, c.clients, c.good, time.Duration(r.Int64N(int64(20*ms)))).Safety; s.Violations > 0 {
				t.Fatalf("%s, seed %d: a correct run has %+v", c.form, seed, s)
			}
			if s := judge(t, r, c.form, c.clients, c.bad, 20*ms).Safety; s.Violations > 0 {
				t.Fatalf("%s, seed %d: only the error of the clocks could explain %+v", c.form, seed, s)
			}
		}
	}
}

// TestViolationsAcrossProcessesAreFound judges wrong runs by clocks that are wrong by less than what makes them
// wrong.
func TestViolationsAcrossProcessesAreFound(t *testing.T) {
	for _, c := range clockCases() {
		for seed := range uint64(50) {
			s := judge(t, rand.New(rand.NewPCG(seed, 1)), c.form, c.clients, c.bad, ms).Safety
			if s.Violations != 1 || len(s.Details) != 1 || !strings.Contains(s.Details[0], c.detail) {
				t.Fatalf("%s, seed %d: %+v, want %q", c.form, seed, s, c.detail)
			}
		}
	}
}

// TestViolationsThatNeedNoClock has faults that show whatever the clocks are.
func TestViolationsThatNeedNoClock(t *testing.T) {
	ended := func(client int) []check.Step {
		return []check.Step{at(50, check.Step{Kind: check.Taking, Client: client}), at(51, check.Step{Kind: check.Ended, Client: client, Turn: 90 + int64(client)})}
	}
	ends := slices.Concat(
		[]check.Step{at(40, check.Step{Kind: check.Putting, Client: 0, Turn: 92, Disturbed: true}), at(41, check.Step{Kind: check.Putting, Client: 0, Turn: 93, Disturbed: true})},
		ended(2), ended(3))
	deposed := hold(0, 1, false, 1, 5)
	deposed[3].Deposed = true
	for _, c := range []struct {
		form    string
		clients int
		steps   []check.Step
		detail  string
	}{
		{"queue/cached-list", 4, slices.Concat(put(0, 1, 1, 2), take(2, 1, 3, 4), take(3, 1, 3, 4)), "took item 1, which a client took before"},
		{"queue/cached-list", 4, slices.Concat(put(0, 1, 1, 2), take(2, 7, 3, 4)), `client 3 took "7", which no client put`},
		{"queue/cached-list", 4, slices.Concat(put(0, 1, 1, 2), ends), "item 1 of client 1 was never taken"},
		{"two-phase-commit/all-watch-all", 2, []check.Step{
			at(1, check.Step{Kind: check.Voted, Client: 0, Value: 1}), at(1, check.Step{Kind: check.Voted, Client: 1, Value: 0}),
			at(9, check.Step{Kind: check.Decided, Client: 0, Value: 1}),
		}, "client 1 committed although a site voted to abort"},
		{"revocable-lock/laser-beams", 2, deposed, "1 holders lost the lock although no client deposed them"},
		{"fanout/persistent", 2, []check.Step{
			at(1, check.Step{Kind: check.Updating, Client: 2, Turn: 1}), at(2, check.Step{Kind: check.Written, Client: 2, Turn: 1}),
			at(90, check.Step{Kind: check.Saw, Client: 1, Turn: 0}),
		}, "client 2 was never notified of write 1"},
		{"sessions/expire", 2, []check.Step{at(9, check.Step{Kind: check.Decided, Client: 2, Name: "3 ephemeral nodes outlived their sessions"})}, "3 ephemeral nodes"},
	} {
		s := judge(t, rand.New(rand.NewPCG(1, 1)), c.form, c.clients, c.steps, 100*ms).Safety
		if s.Violations != 1 || len(s.Details) != 1 || !strings.Contains(s.Details[0], c.detail) {
			t.Errorf("%s: %+v, want %q", c.form, s, c.detail)
		}
	}
}

// TestDisturbedSessionsExcuse has findings that a lost session explains.
func TestDisturbedSessionsExcuse(t *testing.T) {
	early := append(clockCases()[1].bad, at(13, check.Step{Kind: check.Left, Client: 1, Disturbed: true}))
	if s := judge(t, rand.New(rand.NewPCG(1, 1)), "double-barrier/ready", 2, early, ms).Safety; s.Violations != 0 || s.BeliefOverlaps != 1 {
		t.Errorf("%+v, want a belief overlap", s)
	}
	deposed := hold(0, 1, false, 1, 9)
	deposed[3].Deposed = true
	steps := slices.Concat(deposed, hold(1, 2, false, 5, 12), []check.Step{at(4, check.Step{Kind: check.Deposing, Client: 1, Value: 1})})
	if s := judge(t, rand.New(rand.NewPCG(1, 1)), "revocable-lock/laser-beams", 2, steps, ms).Safety; s.Violations != 0 || s.BeliefOverlaps != 1 {
		t.Errorf("%+v, want a belief overlap", s)
	}
}

// TestReadersShareALock has two readers at the same time, also with equal tokens.
func TestReadersShareALock(t *testing.T) {
	steps := slices.Concat(hold(0, 3, true, 1, 10), hold(1, 3, true, 2, 11), hold(2, 4, false, 12, 13))
	r := judge(t, rand.New(rand.NewPCG(1, 1)), "shared-lock/nearest", 3, steps, 100*time.Microsecond)
	if s := r.Safety; s.Violations != 0 || s.Checked != 3 || !s.Tokens {
		t.Errorf("%+v, want 3 checks and no violation", s)
	}
}

// TestGroupsAreJudgedApart has two groups whose holders would conflict in one.
func TestGroupsAreJudgedApart(t *testing.T) {
	steps := hold(0, 1, false, 1, 10)
	for _, s := range hold(1, 1, false, 2, 11) {
		s.Group = 1
		steps = append(steps, s)
	}
	p := planOf(t, "lock/predecessor", 4)
	p.Groups = 2
	var timed []check.TimedStep
	for _, s := range steps {
		timed = append(timed, check.TimedStep{Step: s, Earliest: s.At, Latest: s.At})
	}
	record := &metrics.Record{Phases: []metrics.Phase{metrics.NewLatency("acquire").Phase()}, Fairness: &metrics.Fairness{}}
	divided.Judge(p, record, timed, check.Window{End: time.Hour})
	if s := record.Safety; s.Violations != 0 || s.Checked != 2 {
		t.Errorf("%+v, want 2 checks and no violation", s)
	}
	for i := range timed {
		timed[i].Group = 1
	}
	divided.Judge(p, record, timed, check.Window{End: time.Hour})
	if s := record.Safety; s.Violations == 0 || !strings.HasPrefix(s.Details[0], "group 2: violation") {
		t.Errorf("%+v, want a violation in group 2", s)
	}
}

// TestTimesAcrossProcesses compares judged times with those that are known.
func TestTimesAcrossProcesses(t *testing.T) {
	steps := []check.TimedStep{}
	add := func(s check.Step, e time.Duration) {
		steps = append(steps, check.TimedStep{Step: s, Earliest: s.At - e, Latest: s.At + e})
	}
	const e = 100 * time.Microsecond
	add(at(10, check.Step{Kind: check.Began, Client: 0, Name: "converge", Turn: 1, Lag: 2 * ms}), e)
	add(at(14, check.Step{Kind: check.Reached, Client: 1, Name: "converge", Turn: 1}), e)
	add(at(10, check.Step{Kind: check.Reached, Client: 2, Name: "converge", Turn: 1}), e) // as it was requested
	add(at(4, check.Step{Kind: check.Reached, Client: 3, Name: "converge", Turn: 1}), e)  // it saw something else
	add(at(30, check.Step{Kind: check.Reached, Client: 4, Name: "converge", Turn: 1}), e) // after the window
	got := check.TimesOf(steps, check.Window{Begin: 8 * ms, End: 20 * ms}, false)
	want := []check.Time{
		{Phase: "converge", Service: 4 * ms, Response: 6 * ms, At: 14 * ms, Error: 2 * e},
		{Phase: "converge", Service: 0, Response: 2 * ms, At: 10 * ms, Error: 2 * e},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := len(check.TimesOf(steps, check.Window{Begin: 8 * ms, End: 20 * ms}, true)); n != 3 {
		t.Errorf("in an open loop there are %d times, want that of the turn that was due in the window, too", n)
	}
}
