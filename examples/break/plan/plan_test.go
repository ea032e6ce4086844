package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParse(t *testing.T) {
	t.Setenv("ZK_CONNECT", "zk1:2181,zk2:2181")
	p, err := parse("planted", strings.Fields("--register never --watch never --retry step --on-expiry dead --writes 3 --repeat --for 6s"))
	want := Plan{Address: "zk1:2181,zk2:2181", Sessions: 6, Timeout: 4 * time.Second, For: 6 * time.Second,
		Register: Never, Watch: Never, Retry: Step, OnExpiry: Dead, Writes: 3, Repeat: true}
	if err != nil || p != want {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
	if p, err = parse("planted", nil); err != nil || p.Register != Again || p.Watch != Again || p.Retry != Jitter || p.OnExpiry != Recover {
		t.Errorf("without flags: %+v, %v; want again, again, jitter, recover", p, err)
	}
}

func TestParseNamesTheFault(t *testing.T) {
	t.Setenv("ZK_CONNECT", "zk1:2181")
	for args, want := range map[string]string{
		"--register maybe":   `invalid argument "maybe" for "--register" flag: must be again, never or twice`,
		"--watch twice":      `invalid argument "twice" for "--watch" flag: must be again or never`,
		"--retry random":     `invalid argument "random" for "--retry" flag: must be jitter or step`,
		"--on-expiry wait":   `invalid argument "wait" for "--on-expiry" flag: must be recover, give-up or dead`,
		"--sessions 0":       "invalid --sessions 0: must be at least 1",
		"--timeout 10ms":     "invalid --timeout 10ms: must be at least 1s",
		"--for 0s":           "invalid --for 0s: must be more than 0s",
		"--writes=-1":        "invalid --writes -1: must be at least 0",
		"--address= x":       `unexpected argument "x": all settings are flags`,
		"--address=":         "no address: set --address or ZK_CONNECT to HOST:PORT",
		"--help":             pflag.ErrHelp.Error(),
		"--unknown --repeat": "unknown flag: --unknown",
	} {
		if _, err := parse("planted", strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestWritesDivideTheTime(t *testing.T) {
	p := Plan{For: 15 * time.Second, Writes: 2}
	if a, b := p.WriteAt(0), p.WriteAt(1); a != 5*time.Second || b != 10*time.Second {
		t.Errorf("writes after %s and %s, want 5s and 10s", a, b)
	}
}
