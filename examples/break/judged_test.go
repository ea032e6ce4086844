// Package programs has programs that come back after faults or not, and tests of what stampede observe says of
// them.
package programs

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/recovery"
)

// outage and expiry are faults: clients retry during the one, and register and watch again after the other.
const (
	outage = "at=2s kill leader, restart after=6s"
	expiry = "at=12s expire clients=all"
)

// A planted program behaves as its flags say, and a check says whether the report says so.
type planted struct {
	name   string
	flags  []string
	faults []string
	etcd   bool                                // it is watcher, a client of etcd
	check  func(all []recovery.Outcome) string // "" if it does
}

// sessions is how many the planted programs have.
const sessions = 6

func programs() (all []planted) {
	for _, register := range []string{"again", "never"} {
		for _, watch := range []string{"again", "never"} {
			for _, retry := range []string{"step", "jitter"} {
				all = append(all, planted{
					name:   fmt.Sprintf("register %s, watch %s, retry with %s", register, watch, retry),
					flags:  []string{"--register", register, "--watch", watch, "--retry", retry, "--for", "18s"},
					faults: []string{outage, expiry},
					check: func(all []recovery.Outcome) string {
						first, last := all[0], all[1]
						nodes, watches := back(register), back(watch)
						switch {
						case (first.InStep != nil) != (retry == "step"):
							return fmt.Sprintf("in step: %+v", first.InStep)
						case last.Nodes.Had != sessions || last.Nodes.Back != nodes:
							return fmt.Sprintf("nodes: %+v", last.Nodes)
						case register == "again" && last.Nodes.Duplicated != 0:
							return fmt.Sprintf("registered twice: %+v", last.Nodes)
						case watch == "again" && (last.Watches.Had != sessions || last.Watches.Back != watches):
							return fmt.Sprintf("watches: %+v", last.Watches)
						case watch == "never" && first.Watches.Back != 0:
							return fmt.Sprintf("watches: %+v", first.Watches)
						case last.GaveUp != 0:
							return fmt.Sprintf("%d gave up", last.GaveUp)
						}
						return ""
					},
				})
			}
		}
	}
	early := "at=3s expire clients=all"
	all = append(all, watchers()...)
	return append(all,
		planted{"registers twice", []string{"--register", "twice"}, []string{early}, false, func(all []recovery.Outcome) string {
			return unless(all[0].Nodes.Back == sessions && all[0].Nodes.Duplicated == sessions, all[0])
		}},
		planted{"gives up", []string{"--on-expiry", "give-up"}, []string{early}, false, func(all []recovery.Outcome) string {
			return unless(all[0].GaveUp == sessions && all[0].Verdict == recovery.NotRecovered, all[0])
		}},
		planted{"stays on a dead session", []string{"--on-expiry", "dead"}, []string{early}, false, func(all []recovery.Outcome) string {
			return unless(all[0].GaveUp == 0 && all[0].Verdict == recovery.NotRecovered && all[0].Refused >= sessions && all[0].Replaced == 0, all[0])
		}},
		planted{"repeats a write", []string{"--writes", "20", "--repeat"}, []string{"at=3s lose clients=all reply=create"}, false, func(all []recovery.Outcome) string {
			return unless(all[0].Repeated == sessions, all[0])
		}},
		planted{"looks before it writes again", []string{"--writes", "20"}, []string{"at=3s lose clients=all reply=create"}, false, func(all []recovery.Outcome) string {
			return unless(all[0].Repeated == 0 && all[0].Verdict == recovery.Recovers, all[0])
		}})
}

// watchers are clients of etcd that watch again from where they were, from the current revision, or no more. Whatever they do,
// their library resumes the watches of a stream that broke.
func watchers() (all []planted) {
	for _, of := range []struct {
		verb, again    string
		back, revision int64
	}{{"compact-watch", "revision", 1, 1}, {"compact-watch", "never", 0, 0}, {"cancel-watch", "now", 1, 0}, {"break-stream", "never", 1, 1}} {
		all = append(all, planted{
			name: of.verb + ", watch again: " + of.again, flags: []string{"--again", of.again}, etcd: true, faults: []string{"at=4s " + of.verb + " clients=all"},
			check: func(all []recovery.Outcome) string {
				o := all[0]
				return unless(o.Sessions == 1 && o.Kept == 1 && o.Watches.Had == 1 && o.Watches.Back == of.back && o.FromRevision == of.revision, o)
			},
		})
	}
	return all
}

func back(does string) int64 {
	if does == "again" {
		return sessions
	}
	return 0
}

func unless(right bool, o recovery.Outcome) string {
	if right {
		return ""
	}
	return fmt.Sprintf("%+v", o)
}

// TestMain lets all programs run at the same time: they wait for most of it. As many processes as BUSY says compete with
// them for the processors.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "16")
	os.Exit(func() int {
		busy, err := strconv.Atoi(cmp.Or(os.Getenv("BUSY"), "0"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "BUSY:", err)
			return 2
		}
		for range busy {
			loop := exec.Command("sh", "-c", "while :; do :; done")
			if err := loop.Start(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer loop.Wait()
			defer loop.Process.Kill()
		}
		return m.Run()
	}())
}

// TestPlantedProgramsAreJudgedRight runs each program under stampede observe: once, or as often as
// TIMES says.
func TestPlantedProgramsAreJudgedRight(t *testing.T) {
	testenv.SkipIfShort(t)
	times, bin := times(t), build(t)
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for range times {
				r := p.report(t, bin, p.faults...)
				if len(r.Outcomes) != len(p.faults) {
					t.Fatalf("%d faults were judged, want %d", len(r.Outcomes), len(p.faults))
				}
				if wrong := p.check(r.Outcomes); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

// times returns how often each program runs: once, or as the environment variable TIMES says.
func times(t *testing.T) int {
	t.Helper()
	text := cmp.Or(os.Getenv("TIMES"), "1")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// report runs the program under faults, and returns how it came back.
func (p planted) report(t *testing.T, bin string, faults ...string) recovery.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	program, backend := "planted", "native:?durability=fsync"
	if p.etcd {
		program, backend = "watcher", "etcd:"
	}
	args := []string{"observe", "--no-save", "-o", "json=" + file, "-b", backend}
	for _, f := range faults {
		args = append(args, "--fault", f)
	}
	args = append(append(args, "--", filepath.Join(bin, program), "--address", "{address}", "--for", "12s"), p.flags...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "stampede"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Recovery recovery.Report }
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	return result.Recovery
}
