package observe_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// TestEveryFormIsCountedAndRecognised runs each form of the catalogue, at rest between its steps,
// and compares what an observer of its traffic finds with what the run counted.
func TestEveryFormIsCountedAndRecognised(t *testing.T) {
	counts := []int{2, 3, 5, 8}
	if !testing.Short() {
		counts = append(counts, 32)
	}
	for _, f := range catalog.Forms() {
		if f.Family == workloads.Load || f.Client == "clientv3" {
			continue
		}
		setup := make([][3]int64, len(counts)) // by number of clients
		for i, clients := range counts {
			t.Run(fmt.Sprint(f, "/", clients), func(t *testing.T) {
				s, a := atRest(t, f, clients)
				r := a.Report()
				c, o := s.Counts, r.Traffic
				setup[i] = [3]int64{o.Reads - c.Reads, o.Writes - c.Writes, o.FailedWrites - c.FailedWrites}
				if f.Recipe == "two-phase-commit" && f.Name != "ephemeral-sites" { // its set-up makes a node for each site
					setup[i][0] -= int64(clients)
					setup[i][1] -= 2 * int64(clients)
				}
				if f.String() == "member-state/own-node" { // its set-up reads and makes the node of each member
					setup[i][0] -= int64(clients)
					setup[i][1] -= int64(clients)
				}
				if setup[i] != setup[0] {
					t.Errorf("observed %d reads, %d writes and %d failed writes more than the run counted; with %d clients %d: "+
						"want what the set-up takes, which is the same for any number", setup[i][0], setup[i][1], setup[i][2], counts[0], setup[0])
				}
				if r.Traffic.Notifications != s.Counts.Notifications || r.Traffic.FanoutMax != s.Largest {
					t.Errorf("observed %d notifications, at most %d for a change; the run counted %d and %d",
						r.Traffic.Notifications, r.Traffic.FanoutMax, s.Counts.Notifications, s.Largest)
				}
				if f.String() != "lock/poll" || clients > 2 { // of two one waits, and repeats one read: it may not poll
					checkForm(t, f, s.Counts, s.Largest, r)
				}
				checkWasted(t, s.Counts, r, mostOff)
			})
		}
	}
}

// mostOff and mostOffOnEtcd are how much the observed share of wasted notifications may differ from the run's.
const mostOff, mostOffOnEtcd = 0.02, 0.03

// notWhileRunning are the recipes whose shares are not compared while they run. Those that wake nobody have none.
var notWhileRunning = []string{"mirror", "mutual-watch", "priority-lock"}

// TestDocumentedShares reads what docs/observe.md says about the share of wasted notifications: the tests hold each form to
// that, but for those that it names.
func TestDocumentedShares(t *testing.T) {
	page, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(names []string) string {
		last := len(names) - 1
		return "`" + strings.Join(names[:last], "`, `") + "` and `" + names[last] + "`"
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("by at most %.0f points, or by one notification, when all clients are at rest between two steps (`go test ./metrics/observe -run TestEveryFormIsCountedAndRecognised`)", 100*mostOff),
		"while the form runs, apart from " + quoted(notWhileRunning) + ", whose shares are not compared then (`-run TestEveryFormIsRecognisedWhileItRuns`)",
		fmt.Sprintf("On etcd, at rest, it differs by at most %.0f points, or by one notification (`-run TestEveryFormOnEtcdHasItsVerdict`)", 100*mostOffOnEtcd),
		"for " + quoted(slices.Sorted(maps.Keys(otherShare))) + ".",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/observe.md does not say %q", want)
		}
	}
}

// checkForm checks that the form is among those that were recognised, and that it is called a herd if, and only
// if, a change woke several of which most waited again, by the run's own counts.
func checkForm(t *testing.T, f workloads.Form, counts metrics.Counts, largest int64, r observation.Report) {
	t.Helper()
	found, herd := false, false
	for _, p := range r.Places {
		if p.Form == nil {
			continue
		}
		found, herd = found || slices.Contains(p.Form.Forms, f.String()), herd || p.Form.Herd
	}
	if share := share(counts.Wasted, counts.Useful); largest > 1 && math.Abs(share-0.5) > 0.1 && herd != (share > 0.5) {
		t.Errorf("%s is called a herd: %v; a change woke up to %d, %.0f %% in vain: %s", f, herd, largest, 100*share, recognised(r))
	}
	// Their clients neither watch nor poll, so there is nothing to recognise, and nothing must be.
	silent := f.Recipe == "member-state" || f.Recipe == "reconnect"
	if found == silent || silent && len(recognised(r)) > 0 {
		t.Errorf("recognised: %t; found: %s", found, recognised(r))
	}
}

// checkWasted checks the share of wasted notifications, to most or to one notification. The run counts those of a session's own
// change too, as useful or wasted: its share lies between those that result if all of them are the one or the other. The driver
// for etcd watches keys of its own sessions, which the run does not count.
func checkWasted(t *testing.T, counts metrics.Counts, r observation.Report, most float64) {
	t.Helper()
	var useful, wasted, own int64
	for _, p := range r.Places {
		if p.Wasted != nil && !strings.HasPrefix(p.Path, "/stampede/sessions/") {
			useful, wasted, own = useful+*p.Useful, wasted+*p.Wasted, own+p.OfOwnChanges
		}
	}
	least, highest, want := share(wasted, useful+own), share(wasted+own, useful), share(counts.Wasted, counts.Useful)
	if off := max(most, share(1, counts.Wasted+counts.Useful-1)); want < least-off || want > highest+off {
		t.Errorf("observed %d useful and %d wasted notifications, and %d of sessions' own changes; the run counted %d and %d: %s",
			useful, wasted, own, counts.Useful, counts.Wasted, recognised(r))
	}
}

func share(a, b int64) float64 { return float64(a) / math.Max(1, float64(a+b)) }

func recognised(r observation.Report) (all []string) {
	for _, p := range r.Places {
		if p.Form != nil {
			w := "n/a"
			if p.Wasted != nil {
				w = fmt.Sprint(*p.Useful, "+", *p.Wasted)
			}
			all = append(all, fmt.Sprintf("%s: %s %v herd=%v useful+wasted %s of %d", p.Path, p.Form.Name, p.Form.Forms, p.Form.Herd, w, p.Notifications))
		}
	}
	return all
}
