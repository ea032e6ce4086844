package clock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/hosts"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A wrongClock is the clock of an agent on a host, and its link to the coordinator.
type wrongClock struct {
	Ahead time.Duration // of the host's monotonic clock
	Epoch time.Duration // where the agent's clock starts, on the host's monotonic clock
	Drift PPM           // how much faster than the host's the agent's clock runs
	Delay hosts.Delay
}

// at returns what the agent's clock shows when the host's monotonic clock shows the given time.
func (w wrongClock) at(host time.Duration) time.Duration {
	since := host - w.Epoch
	return since + time.Duration(math.Floor(float64(w.Drift)*1e-6*float64(since)))
}

// wrongClocks are those of four agents.
func wrongClocks() []wrongClock {
	return []wrongClock{
		{Ahead: 1 * time.Second, Drift: 150},
		{Ahead: 30 * time.Hour, Drift: -150, Delay: hosts.Delay{There: time.Millisecond, Back: time.Millisecond}},
		{Ahead: 777 * time.Second, Drift: 190, Delay: hosts.Delay{There: 5 * time.Millisecond}},
		{Ahead: 365 * 24 * time.Hour, Drift: -190, Delay: hosts.Delay{There: 100 * time.Microsecond, Back: 4 * time.Millisecond}},
	}
}

// An estimate is one that an agent made: of the offset when the host's monotonic clock shows a time.
type estimate struct {
	Host     time.Duration
	At       time.Duration // on the agent's clock
	Offset   Offset
	Promised float64 // ns; the largest error that the exchanges until then allow
}

// TestOffsetsOnFourHosts has four agents on hosts whose monotonic clocks are wrong, and drift, behind links
// that delay. The truth is known, as it is one machine: the true offset lies within the error of the
// estimates, and the error is at most half of the round trip of each exchange plus the drift since.
func TestOffsetsOnFourHosts(t *testing.T) {
	testenv.SkipIfShort(t)
	address := serve(t, func() CoordinatorMoment { return coordinatorMoment(sinceBoot()) })
	clocks := wrongClocks()
	found := make([][]estimate, len(clocks))
	var agents sync.WaitGroup
	for i, c := range clocks {
		c.Epoch = sinceBoot() + c.Ahead
		h := hosts.Start(t, c.Ahead)
		h.Link(t, "udp", address, c.Delay)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		agent := h.Command(t.Context(), os.Args[0], "-test.run=^TestAgentOnHost$")
		agent.Env = append(os.Environ(), coordinatorAddress+"="+address, "STAMPEDE_TEST_CLOCK="+string(text))
		agents.Go(func() {
			output, err := agent.Output()
			line, _, _ := bytes.Cut(output, []byte("\n"))
			if err == nil {
				err = json.Unmarshal(line, &found[i])
			}
			if err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	agents.Wait()
	all, wrong, wide, unaware := 0, 0, 0, 0
	for i, c := range clocks {
		var least time.Duration
		for _, e := range found[i] {
			truth := e.Host - c.Ahead - e.At
			all++
			if !contains(e.Offset, float64(truth)) {
				wrong++
				t.Logf("agent %d at %v: offset %v ±%v, want %v", i+1, e.At, e.Offset.Value, e.Offset.Error, truth)
			}
			if float64(e.Offset.Error) > e.Promised+rounded {
				wide++
			}
			if !contains(e.Offset, float64(truth+c.Ahead)) { // as if all hosts had one clock
				unaware++
			}
			if least == 0 || e.Offset.Error < least {
				least = e.Offset.Error
			}
		}
		if one := (c.Delay.There + c.Delay.Back) / 2; least < one {
			t.Errorf("agent %d: a delay of %+v, but offsets within ±%v", i+1, c.Delay, least)
		}
		t.Logf("agent %d: %d estimates, the best within ±%v", i+1, len(found[i]), least)
	}
	if all < 4000 || wrong*100 > all || wide > 0 || unaware < all {
		t.Errorf("of %d estimates, %d are wrong, %d have a larger error than promised, and %d differ from an offset of 0 of the hosts' clocks; want 4000, 1 %% of them, 0 and all",
			all, wrong, wide, unaware)
	}
}

// exchangesOnHost is how many exchanges an agent does, and estimatesEach how many estimates it makes after
// each.
const exchangesOnHost, estimatesEach = 250, 4

// TestAgentOnHost is an agent of TestOffsetsOnFourHosts, in a process of its own. It prints its estimates: of
// the present, of moments since it has begun, and of some to come.
func TestAgentOnHost(t *testing.T) {
	text := os.Getenv("STAMPEDE_TEST_CLOCK")
	if text == "" {
		t.Skip("it is run by TestOffsetsOnFourHosts")
	}
	testenv.SkipIfShort(t)
	var w wrongClock
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	c := dial(t, os.Getenv(coordinatorAddress), func() Moment { return MomentAt(w.at(sinceBoot())) })
	e, r := estimator(t, DefaultMaxDrift), rand.New(rand.NewPCG(1, uint64(w.Ahead)))
	began := sinceBoot()
	var exchanges []Exchange
	var all []estimate
	for range exchangesOnHost {
		x, err := c.Exchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(x); err != nil {
			t.Fatal(err)
		}
		exchanges = append(exchanges, x)
		for n := range estimatesEach {
			host := sinceBoot()
			if n > 0 {
				host = began + time.Duration(r.Float64()*float64(host+2*time.Second-began))
			}
			at := w.at(host)
			o, err := e.Offset(MomentAt(at))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, estimate{host, at, o, promised(exchanges, MomentAt(at), DefaultMaxDrift)})
		}
		<-time.After(time.Duration(r.Float64() * float64(20*time.Millisecond)))
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(out))
}
