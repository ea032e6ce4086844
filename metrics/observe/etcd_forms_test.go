package observe_test

import (
	"math"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// otherShare says of which forms another share is wasted than the run counts. Their verdict is the run's all the same.
var otherShare = map[string]string{
	"queue/etcd-recipes":          "its watch tells of changes that came while it was being ended, as many as timing decides",
	"priority-queue/etcd-recipes": "as queue/etcd-recipes",
	"double-barrier/sequential":   "who leaves in order is told by the node ahead, and counts as waiting again",
	"revocable-lock/shared-flag":  "a request to release and a release both come by the watch of one node",
	"queue/one-watcher":           "the consumer that watches is told of more changes than the driver passes on, and its lock counts too",
	"priority-queue/one-watcher":  "as queue/one-watcher",
}

// TestEveryFormOnEtcdHasItsVerdict runs each form of the catalogue on etcd, at rest between its steps, through a proxy
// that decodes etcd's protocol. It is called a herd if, and only if, most notifications of a change that woke several were
// wasted by the run's own count, and as large a share of them is wasted.
func TestEveryFormOnEtcdHasItsVerdict(t *testing.T) {
	testenv.SkipIfShort(t)
	server := backendtest.SharedEtcd(t)
	for _, f := range catalog.Forms() {
		if f.Family == workloads.Load || f.Client != "" && f.Client != "clientv3" {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			a := observe.New(observe.DefaultLimits)
			p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: server}}, proxy.Options{Protocol: etcd.Protocol(), Observer: a})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			service := backendtest.Open(t, "etcd://"+p.Addresses()[0], drivers.Security{})
			s, err := settled.Run(t.Context(), f.ServiceFor(service), f, 8, workloads.Settings{Polls: 2, Queue: workloads.QueueSettings{Items: 4}})
			if err != nil {
				t.Fatal(err)
			}
			p.Flush()
			r := a.Report()
			want := share(s.Counts.Wasted, s.Counts.Useful)
			herd := s.Largest > 1 && want > 0.5
			if got := len(r.Herds()) > 0; got != herd && math.Abs(want-0.5) > 0.1 {
				t.Errorf("a herd: %v; a change woke up to %d, %.0f %% in vain: %s", got, s.Largest, 100*want, recognised(r))
			}
			if herd && len(r.Undecided()) > 0 {
				t.Errorf("not known: %+v", r.Undecided())
			}
			if otherShare[f.String()] == "" {
				checkWasted(t, s.Counts, r, mostOffOnEtcd)
			}
		})
	}
}
