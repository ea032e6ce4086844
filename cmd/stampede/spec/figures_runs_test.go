package spec

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestEveryFigureIsMeasuredOrRefused runs every form with several clients and with one, and loads whose settings leave
// something out. A run has every figure that its plan can have, and none that its plan cannot have, and the plan of
// the run is that of the flags.
func TestEveryFigureIsMeasuredOrRefused(t *testing.T) {
	type command struct{ recipe, form, flags string }
	all := []command{
		{"mix", "operations", "clients=2 reads=1 watchers=2 keys=10"},
		{"mix", "operations", "clients=2 reads=0.5 watchers=2 keys=10"},
		{"mix", "operations", "clients=2 reads=0 creates=0.5 grow=true watchers=2 keys=10"},
		{"mix", "operations", "clients=2 reads=0 txns=1 watchers=2 keys=10"},
		{"shared-lock", "nearest", "clients=2 readers=1"},
		{"lock", "predecessor", "clients=2 groups=2"},
		{"lock", "predecessor", "clients=4 groups=2"},
		{"lock", "predecessor", "clients=2 background=reads=1,clients=1,rate=100"},
		{"two-phase-commit", "coordinator", "clients=2 abort-rate=1"},
	}
	for _, f := range catalog.Forms() {
		if f.Client != "" {
			continue
		}
		all = append(all, command{f.Recipe, f.Name, "clients=1"})
		if !testing.Short() {
			all = append(all, command{f.Recipe, f.Name, "clients=2"}, command{f.Recipe, f.Name, "clients=4"})
		}
	}
	for _, c := range all {
		t.Run(c.recipe+"/"+c.form+" "+c.flags, func(t *testing.T) {
			f, flags := Defaults(catalog.Forms())
			for _, word := range strings.Fields("form=" + c.form + " hold=20ms think=1ms rounds=60 warmup=0s seed=1 " + c.flags) {
				flag, value, _ := strings.Cut(word, "=")
				cli.Must(flags.Set(flag, value))
			}
			j, err := NewJob(catalog.Forms(), []string{c.recipe}, *f)
			if err != nil {
				t.Fatal(err)
			}
			row := RowsOf([]Job{j})[0]
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				p := j.Flags.Plan(opensSlowly{s, s.(drivers.Expirer)}, j.Chosen[0].Form, j.Flags.Clients[0], 0)
				run := results.FromRecord(j.Flags.Recorded(p), runtest.Measure(t, p))
				done := figure.PlanOf(run)
				for _, f := range figure.All(row.Phases) {
					_, known := f.RunValue(run)
					possible, ofMachine := f.PossibleIn(row.Plan), strings.HasPrefix(f.Name, "machine.") || strings.HasPrefix(f.Name, "server.")
					switch {
					case ofMachine: // of a server in a process of its own
					case possible != f.PossibleIn(done) && !strings.HasPrefix(f.Name, "rounds_per_s."): // rounds end the window
						t.Errorf("%s: before the run %v, after it %v", f.Name, possible, !possible)
					case known && !possible:
						t.Errorf("%s is measured, and refused", f.Name)
					case strings.HasSuffix(c.recipe, "queue") && ofNotifications(f.Name): // consumers may always find an item
					case !known && possible && !dependsOnTheRun(f.Name):
						t.Errorf("%s is not measured, and accepted", f.Name)
					}
				}
			})
		})
	}
}

// opensSlowly is a service on which a session takes a millisecond to open: storms of sessions take no other time.
type opensSlowly struct {
	drivers.Service
	drivers.Expirer
}

func (s opensSlowly) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if err := drivers.Pause(ctx, time.Millisecond); err != nil {
		return nil, err
	}
	return s.Service.Dial(ctx, o)
}

// ofNotifications reports whether the figure is of what changes wake.
func ofNotifications(name string) bool {
	return name == "wasted" || strings.HasPrefix(name, "fanout.") || strings.HasPrefix(name, "drain.")
}

// dependsOnTheRun reports whether a run may be too short for the figure, or have nothing of its kind although it could.
func dependsOnTheRun(name string) bool {
	statistic := name[strings.LastIndex(name, ".")+1:]
	return slices.Contains([]string{"p50", "p90", "p99", "p999"}, statistic) || strings.HasPrefix(name, "rounds_per_s.") ||
		strings.HasPrefix(name, "give-up.") || name == "identities.broken" || name == "read_write_ratio" || name == "generator.waiting_threads"
}
