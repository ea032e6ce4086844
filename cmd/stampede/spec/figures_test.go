package spec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// TestFiguresThatNoRunCanHaveAreRefused goes over all figures, for commands that differ in what their runs have. Each
// figure is accepted by --threshold and --abort-on, or refused in one line that says what it needs.
func TestFiguresThatNoRunCanHaveAreRefused(t *testing.T) {
	const (
		given     = "machine.server_cores server.cpu_per_round server.memory server.written_per_round"
		closed    = "generator.failed generator.late generator.skipped rate.achieved rate.offered"
		alone     = "background.errors background.late background.read background.reads background.rounds_per_s background.skipped background.unfinished background.write"
		notFanout = "behind from_ack.each from_ack.first from_ack.last from_ack.median missed"
		notMix    = "mix.reads mix.refused mix.retries mix.transactions_per_s"
		stays     = "attempts.busiest_100ms attempts.busiest_second attempts.per_client attempts.per_s"
		unfair    = "fairness.inversions fairness.jain fairness.longest_wait"
		log       = "server.fsync_mean server.fsyncs_per_round"
		unbroken  = "return.reads"
		short     = "rounds_per_s.max rounds_per_s.min"
		unwatched = "drain fanout wasted"
	)
	for name, c := range map[string]struct {
		recipe, flags string
		refused       []string
	}{
		"as it comes":             {"lock", "", []string{closed, alone, notFanout, notMix, stays, unbroken, log}},
		"given":                   {"lock", "backend=zookeeper://127.0.0.1:1", []string{given, closed, alone, notFanout, notMix, stays, unbroken}},
		"at a rate":               {"queue", "rate=100 backend=native:?durability=fsync", []string{alone, notFanout, notMix, stays, unbroken, short}},
		"with background":         {"election", "background=reads=0.5,rate=9", []string{closed, notFanout, notMix, stays, unbroken, log}},
		"a background that reads": {"lock", "background=reads=1", []string{closed, "background.late background.skipped background.write", notFanout, notMix, stays, unbroken, log}},
		"under faults":            {"barrier", "fault=at=1s cut clients=all", []string{closed, alone, notFanout, notMix, stays, unfair, log}},
		"reads":                   {"mix", "reads=1", []string{closed, alone, notFanout, stays, unfair, unbroken, log, "mix.refused mix.transactions_per_s", unwatched, "list write create delete transaction"}},
		"transactions":            {"mix", "reads=0 txns=1", []string{closed, alone, notFanout, stays, unfair, unbroken, log, unwatched, "read list write create delete"}},
		"watchers":                {"mix", "reads=0.5 watchers=2", []string{closed, alone, notFanout, stays, unfair, unbroken, log, "mix.refused mix.transactions_per_s", "wasted", "list create delete transaction"}},
		"a form that polls":       {"barrier", "form=poll", []string{closed, alone, notFanout, notMix, stays, unfair, unbroken, log, unwatched}},
		"one client":              {"lock", "form=predecessor clients=1", []string{closed, alone, notFanout, notMix, stays, unbroken, log, unwatched, "handoff"}},
		"a fan-out":               {"fanout", "", []string{closed, alone, notMix, stays, unfair, unbroken, log}},
		"clients that come back":  {"reconnect", "", []string{closed, alone, notMix, notFanout, unfair, unbroken, log, unwatched}},
	} {
		t.Run(name, func(t *testing.T) {
			f, flags := Defaults(catalog.Forms())
			words := []string{c.flags}
			if !strings.Contains(c.flags, "fault=") {
				words = strings.Fields(c.flags)
			}
			for _, word := range words {
				if flag, value, is := strings.Cut(word, "="); is {
					cli.Must(flags.Set(flag, value))
				}
			}
			j, err := NewJob(catalog.Forms(), []string{c.recipe}, *f)
			if err != nil {
				t.Fatal(err)
			}
			rows := RowsOf([]Job{j})
			var got []string
			for _, f := range figure.All(rows[0].Phases) {
				text := f.Name + " > " + map[figure.Unit]string{figure.Nanoseconds: "1s"}[f.Unit]
				if f.Unit != figure.Nanoseconds {
					text += "0"
				}
				_, threshold := gate.Parse(text, "", rows)
				_, abort := Abort(text, rows)
				if threshold == nil && abort == nil == f.Live() {
					continue
				}
				if ends := threshold == nil && abort != nil && strings.Contains(abort.Error(), "only when it has ended"); ends && strings.HasSuffix(f.Name, ".unfinished") {
					continue // a closed loop has it in the end
				}
				if !errors.Is(threshold, abort) && (threshold == nil || abort == nil || threshold.Error() != abort.Error()) ||
					!strings.Contains(threshold.Error(), "runs have "+f.Name+" only with ") || strings.Contains(threshold.Error(), "\n") {
					t.Errorf("%s: as a threshold %v, to abort %v", text, threshold, abort)
				}
				of := f.Name
				for _, times := range []string{".response.", ".service."} {
					of, _, _ = strings.Cut(of, times)
				}
				if strings.HasPrefix(of, "from_ack.") || strings.HasPrefix(of, "drain.") || strings.HasPrefix(of, "fanout.") {
					of = of[:strings.LastIndex(of, ".")]
				}
				got = append(got, of)
			}
			slices.Sort(got)
			want := strings.Fields(strings.Join(c.refused, " "))
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
