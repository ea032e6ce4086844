package agents

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/hosts"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/clock"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/check"
)

// sinceBoot returns what the monotonic clock of the kernel shows, which a time namespace changes.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

// A remote is an agent in a process on a host whose clock is wrong.
type remote struct {
	Name, URL, Token string
	Ahead            time.Duration // of the host's monotonic clock
	Epoch            time.Duration // where the agent's clock starts, on the host's monotonic clock
	Drift            float64       // how much faster than the host's the agent's clock runs, in millionths
	Delay            hosts.Delay   // to and from all that the agent connects to
	process          *exec.Cmd
	errors           bytes.Buffer
}

// at returns what the agent's clock shows when the host's monotonic clock shows the given time.
func (r *remote) at(host time.Duration) time.Duration {
	since := host - r.Epoch
	return since + time.Duration(math.Floor(r.Drift*1e-6*float64(since)))
}

// truth returns what the machine's monotonic clock showed when the agent's clock showed the given time, within
// a few nanoseconds.
func (r *remote) truth(at time.Duration) time.Duration {
	return r.Epoch + time.Duration(float64(at)/(1+r.Drift*1e-6)) - r.Ahead
}

// rounded is the error of the truth from rounding, and from an agent's readings of two clocks that cannot be
// read at once.
const rounded = 2 * time.Microsecond

// remotes are four agents.
func remotes() []*remote {
	return []*remote{
		{Name: "a1", Ahead: time.Second, Drift: 150},
		{Name: "a2", Ahead: 30 * time.Hour, Drift: -150, Delay: hosts.Delay{There: time.Millisecond, Back: time.Millisecond}},
		{Name: "a3", Ahead: 777 * time.Second, Drift: 190, Delay: hosts.Delay{There: 2 * time.Millisecond}},
		{Name: "a4", Ahead: 365 * 24 * time.Hour, Drift: -190, Delay: hosts.Delay{There: 100 * time.Microsecond, Back: 3 * time.Millisecond}},
	}
}

// A remoteStage has the coordinator in this process, and each agent on a host.
type remoteStage struct {
	fleet  *Fleet
	agents []*remote
	start  time.Duration // of the coordinator's clock, on the machine's
	// uncertain is how much later start may be.
	uncertain time.Duration
}

// startRemotes starts the agents, which reach the coordinator and the servers of the service by links.
func startRemotes(t *testing.T, service drivers.Service) *remoteStage {
	t.Helper()
	s := &remoteStage{agents: remotes()}
	machines := make([]*hosts.Host, len(s.agents))
	for i, r := range s.agents {
		machines[i] = hosts.Start(t, r.Ahead)
	}
	m, err := control.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	connect := func() *control.Plane {
		service, err := control.Protected(m.URL(), m.Token())
		if err != nil {
			t.Fatal(err)
		}
		p, err := control.Connect(t.Context(), service, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	gathered := make(chan error, 1)
	coordinator, other := connect(), connect()
	defer other.Close()
	go func() {
		var err error
		s.fleet, err = Gather(t.Context(), coordinator, Options{Agents: len(s.agents), Version: "test", Address: "127.0.0.1:0", Present: func([]string) {}})
		gathered <- err
	}()
	c, err := other.AwaitCoordinator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range s.agents {
		machines[i].Link(t, "udp", c.Clock, r.Delay)
		for _, server := range append(serversOf(t, service), serversAt(t, m.URL())...) {
			machines[i].Link(t, "tcp", server, r.Delay)
		}
		r.URL, r.Token = m.URL(), m.Token().String()
		r.start(t, machines[i])
	}
	if err := <-gathered; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.dismiss(t) })
	s.readClock()
	return s
}

func serversOf(t *testing.T, s drivers.Service) []string {
	t.Helper()
	url, err := backends.Address(s)
	if err != nil {
		t.Fatal(err)
	}
	return serversAt(t, url)
}

func serversAt(t *testing.T, url string) []string {
	t.Helper()
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return target.Servers()
}

// start starts the agent's process on the host.
func (r *remote) start(t *testing.T, h *hosts.Host) {
	t.Helper()
	r.Epoch = sinceBoot() + r.Ahead
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	r.process = h.Command(t.Context(), os.Args[0], "-test.run=^TestAgentOnHost$")
	r.process.Env = append(os.Environ(), "STAMPEDE_TEST_AGENT="+string(text))
	r.process.Stdout, r.process.Stderr = &r.errors, &r.errors
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
}

// TestAgentOnHost is an agent in a process of its own, whose clock drifts.
func TestAgentOnHost(t *testing.T) {
	text := os.Getenv("STAMPEDE_TEST_AGENT")
	if text == "" {
		t.Skip("it is run by the tests with agents on hosts")
	}
	r := &remote{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	token, err := control.ParseToken(r.Token)
	if err != nil {
		t.Fatal(err)
	}
	service, err := control.Protected(r.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := control.Connect(t.Context(), service, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Close()
	var began time.Time // the two clocks run alike
	booted, apart := bracket(func() { began = time.Now() })
	if apart > rounded/2 {
		t.Fatalf("the clocks cannot be read within less than %v", apart)
	}
	a := &Agent{Agent: control.Agent{Name: r.Name, Version: "test"}, Plane: plane, Forms: catalog.Forms(),
		clock: func(at time.Time) clock.Moment { return clock.MomentAt(r.at(booted + at.Sub(began))) }}
	if err := a.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// readClock finds out when the coordinator's clock was started.
func (s *remoteStage) readClock() {
	var shown time.Duration
	at, apart := bracket(func() { shown = s.fleet.clock.CoordinatorNow().SinceStart() })
	s.start, s.uncertain = at-shown, apart+rounded
}

// bracket reads a clock between two readings of the kernel's, until those are close. It returns the first of
// them, and the time between them.
func bracket(read func()) (at, apart time.Duration) {
	for range 100_000 {
		at = sinceBoot()
		read()
		if apart = sinceBoot() - at; apart <= rounded/2 {
			break
		}
	}
	return at, apart
}

// dismiss ends the agents, which end well.
func (s *remoteStage) dismiss(t *testing.T) {
	s.fleet.Close()
	for _, r := range s.agents {
		if err := r.process.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("agent %s: %v: %s", r.Name, err, r.errors.String())
		}
	}
}

// TestRunsOfAgentsOnFourHosts divides runs among agents on hosts whose clocks are wrong and drift, behind
// links that delay. The truth is known, as it is one machine: the times of all steps lie within their error,
// hand-offs are those of the machine's clock within theirs, and the counts are those of one process.
func TestRunsOfAgentsOnFourHosts(t *testing.T) {
	testenv.SkipIfShort(t)
	const clients = 8
	for _, b := range backends.List() {
		t.Run(b.Scheme, func(t *testing.T) {
			service := backendtest.Own(t, b.Scheme+":")
			s := startRemotes(t, service)
			for _, form := range []string{"lock/predecessor", "lock/one-node"} {
				p := planOf(t, service, form, clients)
				p.Settings.Hold = 5 * time.Millisecond // so that all clients behind the links wait again before a release
				alone := longEnough(t, &p, func() (*metrics.Record, error) { return workloads.Run(t.Context(), p) })
				var parts []Contribution
				r := longEnough(t, &p, func() (r *metrics.Record, err error) {
					r, parts, err = s.fleet.Run(t.Context(), p)
					return r, err
				})
				checkRun(t, p, r)
				checkHerd(t, p, r)
				if alone.Herd.Largest != r.Herd.Largest || alone.Herd.Foreign != r.Herd.Foreign {
					t.Errorf("%s: the fan-out is %d at most, and %d in one process", form, r.Herd.Largest, alone.Herd.Largest)
				}
				if len(parts) != len(s.agents) {
					t.Errorf("%s: %d agents took part", form, len(parts))
				}
				s.compareTimes(t, p, r)
			}
			nothingLeft(t, service)
		})
	}
}

// longEnough runs the plan, for longer and longer where the machine is slow, until it has enough rounds.
func longEnough(t *testing.T, p *workloads.Plan, run func() (*metrics.Record, error)) *metrics.Record {
	t.Helper()
	const rounds, longest = 50, time.Minute
	for p.Duration = time.Second; ; p.Duration *= 4 {
		r, err := run()
		if err != nil {
			t.Fatalf("%v: %v", p.Form, err)
		}
		if r.Rounds >= rounds {
			return r
		}
		if p.Duration > longest {
			t.Fatalf("%v: %d rounds in %v", p.Form, r.Rounds, p.Duration)
		}
	}
}

// compareTimes compares the times of the last run with those that the machine's clock showed.
func (s *remoteStage) compareTimes(t *testing.T, p workloads.Plan, r *metrics.Record) {
	t.Helper()
	var work assignment
	var opens time.Duration
	last := site{Number: s.fleet.runs}
	if err := s.fleet.plane.GetJSON(t.Context(), last.document(assigned), &work); err != nil {
		t.Fatal(err)
	}
	if err := s.fleet.plane.GetJSON(t.Context(), last.document(window), &opens); err != nil {
		t.Fatal(err)
	}
	var exact []check.TimedStep
	all, wrong, unaware := 0, 0, 0
	for _, a := range s.agents {
		text, err := s.fleet.plane.Get(t.Context(), work.report(a.Name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeReport(text)
		if err != nil {
			t.Fatal(err)
		}
		if one := (a.Delay.There + a.Delay.Back) / 2; got.Clock.error() < one {
			t.Errorf("agent %s: a delay of %+v, but times within ±%v", a.Name, a.Delay, got.Clock.error())
		}
		for _, step := range got.Clock.timed(got.Steps) {
			at := a.truth(step.At) - s.start // on the coordinator's clock; at most uncertain too late
			all++
			if at+rounded < step.Earliest || at-s.uncertain > step.Latest {
				wrong++
				t.Logf("agent %s: %v is %v, not between %v and %v", a.Name, step.At, at, step.Earliest, step.Latest)
			}
			if blind := at + a.Ahead; blind >= step.Earliest && blind <= step.Latest { // as if all hosts had one clock
				unaware++
			}
			exact = append(exact, check.TimedStep{Step: step.Step, Earliest: at, Latest: at})
		}
	}
	if all < 100 || wrong > 0 || unaware > 0 {
		t.Errorf("%v: of %d times, %d are wrong by more than their error, and %d agree with the hosts' own clocks", p.Form, all, wrong, unaware)
	}
	s.compareHandoffs(t, p, r, exact, check.Window{Begin: opens, End: opens + r.Duration})
}

// compareHandoffs compares the hand-offs of the merged result with those of the machine's clock. At the
// edges of the window, the error of the clocks decides which hand-offs are in it.
func (s *remoteStage) compareHandoffs(t *testing.T, p workloads.Plan, r *metrics.Record, exact []check.TimedStep, w check.Window) {
	t.Helper()
	merged := r.Phases[slices.IndexFunc(r.Phases, func(p metrics.Phase) bool { return p.Name == "handoff" })]
	edge := merged.Error + s.uncertain
	least := len(handoffs(exact, check.Window{Begin: w.Begin + edge, End: w.End - edge}))
	most := len(handoffs(exact, check.Window{Begin: w.Begin - edge, End: w.End + edge}))
	if n := int(merged.Service.TotalCount()); n < least || n > most || n == 0 {
		t.Errorf("%v: %d hand-offs, want %d to %d", p.Form, n, least, most)
	}
	truths := handoffs(exact, w)
	slices.Sort(truths)
	for _, q := range []float64{10, 50, 90, 99} {
		got := time.Duration(merged.Service.ValueAtQuantile(q))
		truth := truths[min(int(q/100*float64(len(truths))), len(truths)-1)]
		// Neighbours of the quantile may be of hand-offs that only one of the two has.
		below, above := neighbours(truths, truth, most-least)
		if got < below-edge-precision(got) || got > above+edge+precision(got) {
			t.Errorf("%v: p%v of the hand-offs is %v, and %v by the machine's clock: want no more than %v between them", p.Form, q, got, truth, edge)
		}
	}
	t.Logf("%v: %d hand-offs, p50 %v, by the machine's clock %v, ±%v", p.Form, merged.Service.TotalCount(),
		time.Duration(merged.Service.ValueAtQuantile(50)), truths[len(truths)/2], merged.Error)
}

// handoffs returns the hand-offs in the window.
func handoffs(steps []check.TimedStep, w check.Window) (all []time.Duration) {
	j := check.NewLockJudge(func(released, granted check.TimedStep) {
		if w.Contains(granted.Middle()) {
			all = append(all, granted.Middle()-released.Middle())
		}
	})
	for _, s := range check.InOrder(steps) {
		j.Take(s)
	}
	return all
}

// precision is how far a value of a histogram can be from the value that was recorded.
func precision(value time.Duration) time.Duration { return value / 500 }

// neighbours returns the values that are at most n, and one, places before and after the value.
func neighbours(sorted []time.Duration, value time.Duration, n int) (below, above time.Duration) {
	i := slices.Index(sorted, value)
	return sorted[max(i-n-1, 0)], sorted[min(i+n+1, len(sorted)-1)]
}
