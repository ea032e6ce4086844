package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestLockWhileTheLeaderIsIsolated isolates the leader for long enough to be replaced,
// while clients of all members wait for a lock. At most one client holds the lock at a
// time, another member becomes leader, and clients continue to get the lock.
func TestLockWhileTheLeaderIsIsolated(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range []string{"zookeeper:?servers=3", "etcd:?servers=3", "native:?servers=3"} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			s := backendtest.Divisible(t, url)
			f, err := faults.Parse("at=500ms isolate leader for=5s")
			if err != nil {
				t.Fatal(err)
			}
			r, err := workloads.Run(t.Context(), workloads.Plan{
				Service: s, Form: form(t, s, "lock", "predecessor"), Clients: 6, Duration: 8 * time.Second, Seed: 1,
				Settings: workloads.Settings{Hold: 5 * time.Millisecond}, Faults: faults.Schedule{f},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Safety.Violations != 0 || r.Safety.Checked == 0 {
				t.Errorf("%+v", r.Safety)
			}
			if len(r.Breaks) != 2 || !strings.HasPrefix(r.Breaks[0].What, "isolate member ") || !strings.HasPrefix(r.Breaks[1].What, "restore member ") {
				t.Errorf("the fault log has %v, want one isolation and its end", r.Breaks)
			}
			replaced(t, r.Recoveries[0])
		})
	}
}

// form returns the form of that name. It fails the test if the service cannot run it.
func form(t *testing.T, s drivers.Service, recipe, name string) workloads.Form {
	t.Helper()
	all := served(t, s)
	i := slices.IndexFunc(all, func(f workloads.Form) bool { return f.Recipe == recipe && f.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s/%s", recipe, name)
	}
	return all[i]
}

// replaced checks that the clients saw a new leader and that it served them.
func replaced(t *testing.T, r metrics.Recovery) {
	t.Helper()
	if r.Led == nil || r.Served == nil {
		t.Errorf("led %v, served %v: want both", r.Led, r.Served)
	}
}
