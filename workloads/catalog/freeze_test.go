package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// TestFrozenServer freezes a server for two of ten seconds. The freeze shows in the
// response times of the operations that are due in that time, but hardly in the
// service times, because only the few calls in flight are slow: a closed loop would
// report only those. The default rate, 100/s, is what a server can do that shares its
// processors with other tests. On an otherwise idle machine the rate can be higher:
//
//	RATE=500 go test -run Frozen ./workloads/catalog
func TestFrozenServer(t *testing.T) {
	testenv.SkipIfShort(t)
	rate, err := strconv.ParseFloat(os.Getenv("RATE"), 64)
	if err != nil {
		rate = 100
	}
	for _, url := range []string{"native:", "zookeeper:", "etcd:"} {
		t.Run(url, func(t *testing.T) { runFrozen(t, url, rate) })
	}
}

func runFrozen(t *testing.T, url string, rate float64) {
	before := descendants(t)
	service := openOwn(t, url)
	server := slices.DeleteFunc(descendants(t), func(pid int) bool { return slices.Contains(before, pid) })
	if len(server) == 0 {
		t.Fatal("the server is no process of its own")
	}
	chosen, err := catalog.Select(catalog.Forms(), []string{"mix"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const window, frozen = 10 * time.Second, 2 * time.Second
	var freeze sync.Once
	r, err := workloads.Run(t.Context(), workloads.Plan{Service: service, Form: chosen[0].Form, Clients: 8,
		Settings: workloads.Settings{Mix: workloads.MixSettings{Reads: 0.9, Keys: 100, Size: 100}},
		Warmup:   time.Second, Duration: window, Open: openloop.Options{Rate: openloop.PerSecond(rate)},
		Progress: func(p workloads.Progress) {
			if p.Elapsed > 3*time.Second {
				freeze.Do(func() { freezeFor(server, frozen) })
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	g := r.Generator
	if plan := int64(rate * window.Seconds()); g.Offered < plan*99/100 || g.Offered > plan*101/100 {
		t.Errorf("%+v, want %d offered", g, plan)
	}
	if least := int64(rate * frozen.Seconds() * 9 / 10); g.Late < least {
		t.Errorf("%d were late, want at least %d", g.Late, least)
	}
	reads := r.Phases[0]
	at := func(q float64) time.Duration { return time.Duration(reads.Response.ValueAtQuantile(q)) }
	p95 := time.Duration(reads.Service.ValueAtQuantile(95))
	if at(99) < time.Second || at(95) < time.Second || at(90) < frozen/4 {
		t.Errorf("response times: p90 %v, p95 %v, p99 %v; want those of a fifth that waited up to %v", at(90), at(95), at(99), frozen)
	}
	// Most requests are due while the server runs, and the freeze hits at most one call of
	// each client, which is less than 1 % of the calls. So the freeze explains neither a slow
	// median nor slow service times nor arrivals without an answer. A machine that is too busy
	// for 100 requests a second explains them, and then the run itself reports doubts.
	if doubt := slices.IndexFunc(r.Doubts, shortOfCPU); doubt >= 0 {
		t.Logf("upper bounds are left out: %v", r.Doubts[doubt])
		return
	}
	if g.Skipped+g.Unfinished > 0 || at(50) > frozen/2 || p95 > time.Second {
		t.Errorf("%+v, p50 of response times %v, p95 of service times %v; want those of a server that answers eight seconds of ten", g, at(50), p95)
	}
}

func shortOfCPU(w metrics.Warning) bool { return strings.HasPrefix(w.Code, "cpu") }

func openOwn(t *testing.T, url string) drivers.Service {
	t.Helper()
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := target.Open(t.Context())
	if err != nil {
		backendtest.Lacking(t, fmt.Errorf("%s: %w", url, err))
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// freezeFor stops the processes and returns immediately. The processes continue after d.
func freezeFor(pids []int, d time.Duration) {
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	time.AfterFunc(d, func() {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGCONT)
		}
	})
}

// descendants returns the process IDs of this process's children and of their descendants.
func descendants(t testing.TB) (pids []int) {
	t.Helper()
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// The fields after the name, which may contain any character: state and parent.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == os.Getpid() {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
