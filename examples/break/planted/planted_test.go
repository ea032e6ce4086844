package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/examples/break/plan"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// The instants of a test, since the start of the program. The fault comes between two of the instants at which clients
// retry in step, and a pause after all of them have come back shows what the service has.
const (
	faultAt  = 3500 * time.Millisecond
	lookAt   = 12500 * time.Millisecond
	sessions = 6
)

// A fault is what the relay does to all clients.
type fault struct {
	name string
	do   func(*relay)
}

var (
	expire = fault{"expire", (*relay).expire}
	cut    = fault{"cut", (*relay).cut}
)

// A seen is what the test saw of a program: at the service long after the fault, and at the relay.
type seen struct {
	registered int // members' nodes
	doubled    int // members with two
	notified   int // members notified of a change of the configuration
	opened     int // sessions opened since the fault
	resumed    int // sessions resumed since the fault
	refused    int // attempts to resume a session that had ended
	entries    int // in the log
	attempts   []time.Duration
}

// observe runs a program in time that passes without delay, and does the fault.
func observe(t *testing.T, p plan.Plan, f fault) (s seen) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		r := newRelay(t)
		ended := make(chan error, 1)
		go func() { ended <- run(p, r.dial) }()
		time.Sleep(faultAt)
		f.do(r)
		time.Sleep(lookAt - faultAt)
		s.look(t, r)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := len(r.open()); n > 0 {
			t.Errorf("%d connections after the end, want none", n)
		}
	})
	return s
}

// look reads the state of the service, and changes the configuration.
func (s *seen) look(t *testing.T, r *relay) {
	t.Helper()
	conn, events, err := zk.Connect([]string{"127.0.0.1:1"}, time.Minute, zk.WithDialer(r.server.Dial), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		conn.Close()
		for range events {
		}
	}()
	names, _, err := conn.Children(members)
	if err != nil {
		t.Fatal(err)
	}
	s.registered = len(names)
	for i := range sessions {
		own := func(name string) bool { return name == fmt.Sprint(i) || strings.HasPrefix(name, fmt.Sprint(i, "-")) }
		if slices.ContainsFunc(names, own) && len(slices.DeleteFunc(slices.Clone(names), own)) == len(names)-2 {
			s.doubled++
		}
	}
	if names, _, err = conn.Children(entries); err != nil {
		t.Fatal(err)
	}
	s.entries = len(names)
	before := r.notifications()
	if _, err := conn.Set(config, []byte("changed"), -1); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	s.notified = r.notifications() - before
	for _, c := range r.since(faultAt) {
		s.attempts = append(s.attempts, c.opened)
		switch {
		case c.granted.Timeout <= 0:
			s.refused++
		case c.presented == 0:
			s.opened++
		default:
			s.resumed++
		}
	}
}

// planOf returns the plan of flags, with the default values of the others.
func planOf(p plan.Plan) plan.Plan {
	p.Address, p.Sessions, p.Timeout, p.For = "127.0.0.1:1", sessions, 4*time.Second, 15*time.Second
	p.Register, p.Watch = cmp.Or(p.Register, plan.Again), cmp.Or(p.Watch, plan.Again)
	p.Retry, p.OnExpiry = cmp.Or(p.Retry, plan.Jitter), cmp.Or(p.OnExpiry, plan.Recover)
	return p
}

// TestEachProgramComesBackAsItsFlagsSay has the eight programs that register or not, watch or not, and come
// back in step or not, and those that register twice.
func TestEachProgramComesBackAsItsFlagsSay(t *testing.T) {
	nodes := map[string]map[string]int{ // that stand for members after the fault
		"expire": {plan.Again: sessions, plan.Never: 0, plan.Twice: 2 * sessions},
		"cut":    {plan.Again: sessions, plan.Never: sessions, plan.Twice: 2 * sessions},
	}
	for _, f := range []fault{expire, cut} {
		for _, register := range []string{plan.Again, plan.Never, plan.Twice} {
			for _, watch := range []string{plan.Again, plan.Never} {
				for _, retry := range []string{plan.Step, plan.Jitter} {
					t.Run(strings.Join([]string{f.name, register, watch, retry}, "/"), func(t *testing.T) {
						got := observe(t, planOf(plan.Plan{Register: register, Watch: watch, Retry: retry}), f)
						want := seen{registered: nodes[f.name][register]}
						if register == plan.Twice {
							want.doubled = sessions
						}
						if watch == plan.Again {
							want.notified = sessions
						}
						rounds := 1 // of attempts
						if f.name == expire.name {
							want.refused, want.opened, rounds = sessions, sessions, 2
						} else {
							want.resumed = sessions
						}
						expect(t, got, want)
						expectPace(t, got.attempts, retry, rounds)
					})
				}
			}
		}
	}
}

func expect(t *testing.T, got, want seen) {
	t.Helper()
	got.attempts, want.attempts = nil, nil
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("saw  %s\nwant %s", g, w)
	}
}

// expectPace checks the instants of some rounds of attempts, in each of which every member makes one.
func expectPace(t *testing.T, attempts []time.Duration, retry string, rounds int) {
	t.Helper()
	if len(attempts) != rounds*sessions {
		t.Errorf("%d attempts, want %d by each of %d members", len(attempts), rounds, sessions)
	}
	if got := pace(attempts); got != retry {
		t.Errorf("attempts at %v: %s, want %s", attempts, got, retry)
	}
}

// pace says by which pace all members made their attempts: with step, all do at each whole second that follows
// the fault; with jitter, at instants of their own within the longest waits.
func pace(attempts []time.Duration) string {
	instants := map[time.Duration]int{}
	for _, at := range attempts {
		instants[at]++
	}
	rounds := len(attempts) / sessions
	inStep := len(instants) == rounds
	for i := range rounds {
		inStep = inStep && instants[faultAt.Truncate(time.Second)+time.Duration(i+1)*time.Second] == sessions
	}
	longest := 100 * time.Millisecond * time.Duration(1<<rounds-1)
	switch {
	case inStep:
		return plan.Step
	case len(instants) == len(attempts) && slices.Max(attempts) < faultAt+longest:
		return plan.Jitter
	}
	return "neither"
}

// TestTheChecksCanFail has the tests see another outcome of each program, and each pace.
func TestTheChecksCanFail(t *testing.T) {
	programs := map[string]seen{}
	for _, p := range []plan.Plan{{}, {Register: plan.Never}, {Register: plan.Twice}, {Watch: plan.Never}, {OnExpiry: plan.GiveUp},
		{OnExpiry: plan.Dead}, {Register: plan.Never, Watch: plan.Never}} {
		got := observe(t, planOf(p), expire)
		got.attempts = nil
		key := fmt.Sprintf("%+v", got)
		if _, same := programs[key]; same {
			t.Errorf("%+v: two programs do the same: %s", p, key)
		}
		programs[key] = got
	}
	second := faultAt.Truncate(time.Second) + time.Second
	together := slices.Repeat([]time.Duration{second}, sessions)
	for want, attempts := range map[string][]time.Duration{
		plan.Step:   together,
		"neither":   append(together[1:sessions:sessions], second+time.Nanosecond),
		plan.Jitter: {faultAt, faultAt + 1, faultAt + 2, faultAt + 3, faultAt + 4, faultAt + 99*time.Millisecond},
	} {
		if got := pace(attempts); got != want {
			t.Errorf("%v: %s, want %s", attempts, got, want)
		}
	}
}

func TestAMemberGivesUp(t *testing.T) {
	p := planOf(plan.Plan{OnExpiry: plan.GiveUp, Retry: plan.Step, Writes: 14})
	got := observe(t, p, expire)
	expect(t, got, seen{refused: sessions, entries: 3 * sessions})
	expectPace(t, got.attempts, plan.Step, 1)
	// Only the end of a session makes it give up.
	got = observe(t, p, cut)
	expect(t, got, seen{registered: sessions, notified: sessions, resumed: sessions, entries: 12 * sessions})
}

func TestAMemberStaysOnADeadSession(t *testing.T) {
	got := observe(t, planOf(plan.Plan{OnExpiry: plan.Dead, Retry: plan.Step}), expire)
	const rounds = 9 // the whole seconds from the fault to the look
	expect(t, got, seen{refused: rounds * sessions})
	expectPace(t, got.attempts, plan.Step, rounds)
	got = observe(t, planOf(plan.Plan{OnExpiry: plan.Dead}), expire)
	if got.refused < 2*sessions || got.opened+got.resumed+got.registered+got.notified > 0 {
		t.Errorf("with jitter: saw %+v, want sessions that are refused again and again", got)
	}
	got = observe(t, planOf(plan.Plan{OnExpiry: plan.Dead}), cut)
	expect(t, got, seen{registered: sessions, notified: sessions, resumed: sessions})
}

// TestAWriteIsRepeated loses the reply to one write of each member.
func TestAWriteIsRepeated(t *testing.T) {
	lose := fault{"lose", func(r *relay) { r.lose(entries, sessions) }}
	for repeat, written := range map[bool]int{false: 12, true: 13} {
		for _, retry := range []string{plan.Step, plan.Jitter} {
			got := observe(t, planOf(plan.Plan{Retry: retry, Writes: 14, Repeat: repeat}), lose)
			expect(t, got, seen{registered: sessions, notified: sessions, resumed: sessions, entries: written * sessions})
		}
	}
}

// TestTheReplyToARegistrationIsLost ends the sessions, and loses the reply to each creation of a member's node.
func TestTheReplyToARegistrationIsLost(t *testing.T) {
	both := fault{"expire and lose", func(r *relay) {
		r.lose(members, sessions)
		r.expire()
	}}
	expect(t, observe(t, planOf(plan.Plan{}), both),
		seen{registered: sessions, notified: sessions, refused: sessions, opened: sessions, resumed: sessions})
}

func TestNoFault(t *testing.T) {
	none := fault{"none", func(*relay) {}}
	expect(t, observe(t, planOf(plan.Plan{Writes: 14}), none), seen{registered: sessions, notified: sessions, entries: 12 * sessions})
}
