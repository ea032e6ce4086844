package programs

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/recovery"
)

// An idle fault does nothing to a program: it comes too late, or to nobody, or nobody notices it.
type idle struct {
	fault string
	check func(recovery.Report) bool
}

func idles() []idle {
	none := func(r recovery.Report) bool {
		return r.Verdict == recovery.NotApplicable && r.Reason == recovery.NoFault && len(r.Outcomes) == 0
	}
	return []idle{
		{"at=1h expire clients=all", none},
		{"at=200ms expire node=/app/members/none", none},
		{"at=500ms delay clients=all by=1ms for=200ms", func(r recovery.Report) bool {
			o := r.Outcomes
			if len(o) == 0 {
				return none(r) // no client had come by then
			}
			return len(o) == 1 && o[0].Kept == o[0].Sessions && o[0].Not+o[0].Partly == 0 && o[0].Resumed+o[0].Replaced+o[0].GaveUp == 0 &&
				o[0].Nodes.Duplicated == 0 && o[0].Repeated == 0 && o[0].Missed == 0 && o[0].InStep == nil
		}},
	}
}

// TestAProgramThatNothingHappenedTo runs programs under faults that do nothing to them. No report says that one did
// not come back, did something twice, gave up, or retried in step: 48 observations, or 50 for each of TIMES.
func TestAProgramThatNothingHappenedTo(t *testing.T) {
	testenv.SkipIfShort(t)
	runs := 48
	if n := times(t); n > 1 {
		runs = 50 * n
	}
	bin := build(t)
	for worker := range 8 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for i := worker; i < runs; i += 8 {
				p, f := programs()[i%8], idles()[i/8%3]
				flags := append([]string{"--writes", "10"}, p.flags...)
				flags[len(flags)-1] = "1500ms" // the value of --for
				p.flags = flags
				if r := p.report(t, bin, f.fault); !f.check(r) {
					t.Errorf("%s, %s: %+v", p.name, f.fault, r)
				}
			}
		})
	}
}

// build returns a directory with the commands stampede and planted.
func build(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/stampede", "./planted", "./watcher").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}
