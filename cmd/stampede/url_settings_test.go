package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// recordedOn returns a run on the backend as a result records it, without measurements.
func recordedOn(t *testing.T, url string, set func(*pflag.FlagSet)) results.Run {
	t.Helper()
	f, flags := spec.Defaults(catalog.Forms())
	set(flags)
	j, err := spec.NewJob(catalog.Forms(), []string{"lock"}, *f)
	if err != nil {
		t.Fatal(err)
	}
	service := backendtest.Open(t, url, drivers.Security{})
	p := j.Flags.Plan(service, j.Chosen[0].Form, 4, 0)
	return results.FromRecord(j.Flags.Recorded(p), &metrics.Record{})
}

func noFlags(*pflag.FlagSet) {}

// TestEveryKeyOfAURLIsACondition checks that whatever a URL can set is among the conditions by which runs are
// comparable, beside a given address too. It covers new keys automatically.
func TestEveryKeyOfAURLIsACondition(t *testing.T) {
	testenv.SkipIfShort(t)
	needs := map[string]string{"clients": "servers=3&"} // keys without an effect on one server
	for _, b := range backends.List() {
		if b.Scheme == "zookeeper" { // its keys are those of native
			continue
		}
		without := map[string]results.Run{}
		for _, k := range b.Keys {
			t.Run(b.Scheme+"/"+k.Name, func(t *testing.T) {
				url := b.Scheme + ":?" + needs[k.Name]
				if _, done := without[url]; !done {
					without[url] = recordedOn(t, strings.TrimRight(url, "?&"), noFlags)
				}
				was, is := without[url], recordedOn(t, url+k.Name+"="+k.Example, noFlags)
				if diff := results.Differences([]results.Run{was}, []results.Run{is}); len(diff) == 0 {
					t.Errorf("no condition differs")
				}
				if was.Key() == is.Key() {
					t.Errorf("both have the key %q", was.Key())
				}
			})
		}
	}
}

// TestATimeOutOfAURLIsThatOfTheFlag checks that a run has the same settings and the same key whether its URL or
// the flag names the session time-out, and that the flag takes precedence.
func TestATimeOutOfAURLIsThatOfTheFlag(t *testing.T) {
	const address = "native://127.0.0.1:1" // nothing listens there, and nothing needs to
	flag := func(flags *pflag.FlagSet) { cli.Must(flags.Set(spec.TimeoutFlag, "4s")) }
	byFlag := recordedOn(t, address, flag)
	byURL := recordedOn(t, address+"?session-timeout=4s", noFlags)
	both := recordedOn(t, address+"?session-timeout=5s", flag)
	for _, r := range []results.Run{byURL, both} {
		if r.Settings[spec.TimeoutFlag] != "4s" || r.Key() != byFlag.Key() {
			t.Errorf("%s: %q, key %q, want %q", r.Backend.URL, r.Settings[spec.TimeoutFlag], r.Key(), byFlag.Key())
		}
	}
}
