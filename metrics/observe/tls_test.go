package observe_test

import (
	"crypto/tls"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/metrics/observe"
)

// counted is what an observation counts of the sessions in watchersOfOneNode.
type counted struct {
	Requests                                   map[drivers.Op]int
	Sessions, Ended                            int64
	Notifications, Changes, MedianFan, MostFan int64
}

// TestSessionsAreCountedAlikeWithTLS has sessions watch a node through proxies with and without TLS on either side. Each
// must pass the same requests and notifications on.
func TestSessionsAreCountedAlikeWithTLS(t *testing.T) {
	dir := t.TempDir()
	trusting, err := backendtest.Authority(t, dir).TLSConfig()
	must(t, err)
	trusting.ServerName = "127.0.0.1"
	both := filepath.Join(dir, "server.pem")
	pair, err := tls.LoadX509KeyPair(both, both)
	must(t, err)
	own := &tls.Config{Certificates: []tls.Certificate{pair}}
	plain := func() proxy.Server { return proxy.Server{Address: backendtest.Native(t, server.Options{})} }
	secure := func() proxy.Server {
		s := backendtest.SecureNative(t, server.Options{})
		cfg, err := s.Security.TLSConfig()
		must(t, err)
		cfg.ServerName = "127.0.0.1"
		return proxy.Server{Address: s.Address, TLS: cfg}
	}
	want := counted{
		Requests: map[drivers.Op]int{drivers.OpCreate: 1, drivers.OpGet: watchers * changes, drivers.OpSet: changes},
		Sessions: watchers + 1, Ended: watchers + 1,
		Notifications: watchers * changes, Changes: changes, MedianFan: watchers, MostFan: watchers,
	}
	for _, test := range []struct {
		name   string
		server func() proxy.Server
		before *tls.Config // of the proxy for its clients
	}{
		{"none", plain, nil},
		{"before the proxy", plain, own},
		{"behind the proxy", secure, nil},
		{"both", secure, own},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := &requests{Analysis: observe.New(observe.DefaultLimits), of: map[drivers.Op]int{}}
			p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{test.server()}, proxy.Options{TLS: test.before, Protocol: traffic.ZooKeeper(), Observer: seen})
			must(t, err)
			defer p.Close()
			cfg := lean.Config{Servers: p.Addresses()}
			if test.before != nil {
				cfg.TLS = trusting
			}
			watchersOfOneNode(t, cfg)
			p.Close()
			r := seen.Report().Traffic
			got := counted{seen.of, r.Sessions, r.Ended, r.Notifications, r.Changes, r.FanoutP50, r.FanoutMax}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// watchers is the number of sessions that watch a node, and changes how often it changes.
const watchers, changes = 4, 3

// watchersOfOneNode has all watchers watch a node each time before it changes.
func watchersOfOneNode(t *testing.T, c lean.Config) {
	t.Helper()
	service, err := lean.New(c)
	must(t, err)
	var all [1 + watchers]drivers.Conn
	for i := range all {
		all[i], err = service.Dial(t.Context(), drivers.Options{})
		must(t, err)
	}
	writer := all[0]
	_, err = writer.Create(t.Context(), "/watched", nil, 0)
	must(t, err)
	for range changes {
		var fired [watchers]drivers.Wait
		for i := range fired {
			_, _, err := all[1+i].Get(t.Context(), "/watched", fired[i].Fire)
			must(t, err)
		}
		_, err = writer.Set(t.Context(), "/watched", nil, drivers.AnyVersion)
		must(t, err)
		for i := range fired {
			_, err := fired[i].Await(t.Context())
			must(t, err)
		}
	}
	for _, c := range all {
		must(t, c.Close())
	}
}

// requests counts the requests of an analysis that name a node.
type requests struct {
	*observe.Analysis
	of map[drivers.Op]int
}

func (r *requests) Open(c traffic.Connection) traffic.Tap { return requestsTap{r.Analysis.Open(c), r} }

type requestsTap struct {
	traffic.Tap
	*requests
}

func (r requestsTap) Message(at time.Time, m drivers.Message) {
	if m.Kind == drivers.Request && len(m.Path) > 0 {
		r.of[m.Op]++
	}
	r.Tap.Message(at, m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
