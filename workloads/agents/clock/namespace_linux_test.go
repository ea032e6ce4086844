package clock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// coordinatorAddress is the variable that makes a test process an agent of another one.
const coordinatorAddress = "STAMPEDE_TEST_COORDINATOR"

// sinceBoot returns what the monotonic clock of the kernel shows, which a time namespace changes.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

// A finding is what an agent in a time namespace estimates.
type finding struct {
	Offset    Offset
	RoundTrip time.Duration // the smallest
	Wall      time.Duration // the wall time since 1970
}

// TestTimeNamespace has an agent in a time namespace, whose monotonic clock is ahead by a known time. Its wall
// clock is that of the coordinator, so an offset of wall clocks would be 0.
func TestTimeNamespace(t *testing.T) {
	testenv.SkipIfShort(t)
	if text, err := exec.Command("unshare", "--user", "--map-root-user", "--time", "--fork", "true").CombinedOutput(); err != nil {
		t.Skipf("time namespaces are not available here: %v, %s", err, text)
	}
	address := serve(t, func() CoordinatorMoment { return coordinatorMoment(sinceBoot()) })
	for _, ahead := range []time.Duration{100 * time.Second, 30 * time.Hour} {
		agent := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--time",
			"--monotonic", strconv.Itoa(int(ahead.Seconds())), "--fork", os.Args[0], "-test.run=^TestAgentInTimeNamespace$")
		agent.Env = append(os.Environ(), coordinatorAddress+"="+address)
		output, err := agent.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		var found finding
		text, _, _ := bytes.Cut(output, []byte("\n")) // the other lines are of the test's end
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		t.Logf("ahead by %v: offset %v ±%v, smallest round trip %v", ahead, found.Offset.Value, found.Offset.Error, found.RoundTrip)
		if wrong := (found.Offset.Value + ahead).Abs(); wrong > found.Offset.Error {
			t.Errorf("offset %v ±%v, want %v", found.Offset.Value, found.Offset.Error, -ahead)
		}
		// At the moment of the estimate the best exchange is less than 10 s old.
		if most := found.RoundTrip/2 + DefaultMaxDrift.times(10*time.Second); found.Offset.Error > most {
			t.Errorf("±%v, want ±%v at most", found.Offset.Error, most)
		}
		if apart := (time.Duration(time.Now().UnixNano()) - found.Wall).Abs(); apart > ahead/2 {
			t.Errorf("the wall clocks are %v apart: the test shows nothing", apart)
		}
	}
}

// TestAgentInTimeNamespace is the agent of TestTimeNamespace, in a process of its own. It prints a finding.
func TestAgentInTimeNamespace(t *testing.T) {
	address := os.Getenv(coordinatorAddress)
	if address == "" {
		t.Skip("it is run by TestTimeNamespace")
	}
	c := dial(t, address, func() Moment { return MomentAt(sinceBoot()) })
	e := estimator(t, DefaultMaxDrift)
	best := time.Hour
	for range 300 {
		x, err := c.Exchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(x); err != nil {
			t.Fatal(err)
		}
		best = min(best, x.RoundTrip())
	}
	o, err := e.Offset(MomentAt(sinceBoot()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(finding{o, best, time.Duration(time.Now().UnixNano())})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(text))
}
