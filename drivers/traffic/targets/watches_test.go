package targets_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/await"
)

// library opens a client of etcd's own library through the proxy.
func (s *stage) library(t *testing.T, encryption *tls.Config) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: s.proxy.Addresses(), TLS: encryption, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// watch begins a watch of the library, and returns when the service has confirmed it.
func watch(t *testing.T, c *clientv3.Client, key string, o ...clientv3.OpOption) clientv3.WatchChan {
	t.Helper()
	answers := c.Watch(t.Context(), key, append(o, clientv3.WithCreatedNotify())...)
	if r := <-answers; !r.Created {
		t.Fatalf("the watch on %s was not confirmed: %+v", key, r)
	}
	return answers
}

// next returns what a watch says next, and false if its channel was closed.
func next(t *testing.T, answers clientv3.WatchChan) (clientv3.WatchResponse, bool) {
	t.Helper()
	select {
	case r, open := <-answers:
		return r, open
	case <-time.After(await.Limit):
		t.Fatal("the watch says nothing")
		return clientv3.WatchResponse{}, false
	}
}

// keys returns two keys of the test.
func (s *stage) keys(t *testing.T) (hit, other string) { return s.path(t, "hit"), s.path(t, "other") }

// end performs a fault on the watch of one of two keys, and compares what it says it did.
func (s *stage) end(t *testing.T, fault, key string) {
	t.Helper()
	done := s.do(t, fault+" clients=all key="+key)
	if want := fault + " 1 of 1 clients, key=" + key + ", 1 watch"; len(done) != 1 || done[0].What != want {
		t.Fatalf("did %+v, want %q", done, want)
	}
	if got := done[0].Hits[0].Watches; len(got) != 1 || got[0] != key {
		t.Errorf("hit %q, want %q", got, key)
	}
}

// undisturbed has another watch of the same stream and a read go on, without another connection.
func (s *stage) undisturbed(t *testing.T, c *clientv3.Client, other string, answers clientv3.WatchChan) {
	t.Helper()
	_, err := c.Put(t.Context(), other, "new")
	must(t, err)
	if r, open := next(t, answers); !open || r.Err() != nil || len(r.Events) != 1 || string(r.Events[0].Kv.Value) != "new" {
		t.Errorf("the other watch got %+v, %v", r, open)
	}
	got, err := c.Get(t.Context(), other)
	if must(t, err); len(got.Kvs) != 1 {
		t.Errorf("a read got %v", got.Kvs)
	}
	await.True(t, "the read was not seen", func() bool { return s.seen.count(drivers.Reply, drivers.OpGet, other) > 0 }) // the observer is behind
	if n := s.seen.connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// TestCompactWatch has etcd's library see what it sees after a compaction, which others do not: the revision is there.
func TestCompactWatch(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c := s.library(t, nil)
	hit, other := s.keys(t)
	answers, others := watch(t, c, hit), watch(t, c, other)
	first, err := c.Put(t.Context(), hit, "1")
	must(t, err)
	if r, _ := next(t, answers); len(r.Events) != 1 {
		t.Fatalf("got %+v", r)
	}
	last, err := c.Put(t.Context(), other, "2")
	must(t, err)
	next(t, others)
	s.end(t, "compact-watch", hit)
	r, _ := next(t, answers)
	if !r.Canceled || !errors.Is(r.Err(), rpctypes.ErrCompacted) || r.CompactRevision < last.Header.Revision || r.CompactRevision != r.Header.Revision {
		t.Errorf("got %+v, %v, want the error of a compaction to the current revision", r, r.Err())
	}
	if r, open := next(t, answers); open {
		t.Errorf("the watch goes on: %+v", r)
	}
	s.undisturbed(t, c, other, others)
	again := c.Watch(t.Context(), hit, clientv3.WithRev(first.Header.Revision)) // is not compacted for anyone
	if r, open := next(t, again); !open || len(r.Events) != 1 {
		t.Errorf("a watch from the revision of the first change got %+v, %v", r, open)
	}
}

// TestCancelWatch has etcd's library see that the service has cancelled a watch: its channel is closed.
func TestCancelWatch(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c := s.library(t, nil)
	hit, other := s.keys(t)
	answers, others := watch(t, c, hit), watch(t, c, other)
	s.end(t, "cancel-watch", hit)
	if r, open := next(t, answers); open {
		t.Errorf("the watch goes on: %+v", r)
	}
	s.undisturbed(t, c, other, others)
	await.True(t, "the server was not asked to cancel", func() bool { return s.seen.count(drivers.Reply, drivers.OpUnwatch, hit) == 1 })
}

// TestBreakStream breaks the stream of two watches, which etcd's library resumes by another stream of the same connection,
// from where they were.
func TestBreakStream(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c := s.library(t, nil)
	hit, other := s.keys(t)
	answers, others := watch(t, c, hit), watch(t, c, other)
	done := s.do(t, "break-stream clients=all key="+hit)
	if want := "break-stream 1 of 1 clients, key=" + hit + ", 2 watches"; done[0].What != want {
		t.Errorf("did %q, want %q", done[0].What, want)
	}
	_, err := c.Put(t.Context(), hit, "after")
	must(t, err)
	if r, open := next(t, answers); !open || len(r.Events) != 1 {
		t.Errorf("got %+v, %v", r, open)
	}
	s.undisturbed(t, c, other, others)
	await.True(t, "the watch was not armed again", func() bool { return s.seen.count(drivers.Reply, drivers.OpWatchNode, hit) == 2 })
}

// TestNoWatch hits a client that has none.
func TestNoWatch(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c := s.library(t, nil)
	_, err := c.Get(t.Context(), "/")
	must(t, err)
	for _, verb := range []string{"cancel-watch", "compact-watch", "break-stream"} {
		done := s.do(t, verb+" clients=all")
		if want := verb + " 1 of 1 clients, which had no such gRPC watch"; done[0].What != want || len(done[0].Hits[0].Watches) > 0 {
			t.Errorf("did %+v, want %q", done[0], want)
		}
	}
	_, err = c.Get(t.Context(), "/")
	must(t, err)
}

// certified returns the configuration of a proxy with a certificate, and the security of clients that accept it.
func certified(t *testing.T) (*tls.Config, drivers.Security) {
	t.Helper()
	dir := t.TempDir()
	security := backendtest.Authority(t, dir)
	both := filepath.Join(dir, "server.pem")
	pair, err := tls.LoadX509KeyPair(both, both)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}, security
}

// TestFaultsOverTLS breaks clients that have TLS to the proxy: a reply is lost and a session ends, a watch is cancelled and
// another one goes on over the same connection.
func TestFaultsOverTLS(t *testing.T) {
	t.Run("zookeeper", func(t *testing.T) {
		encryption, security := certified(t)
		s := newStageBehind(t, encryption, security, "zookeeper", backendtest.SharedZooKeeper(t))
		c, states := s.client(t)
		mine, lost := s.path(t, "mine"), s.path(t, "lost")
		_, err := c.Create(t.Context(), mine, nil, drivers.Ephemeral)
		must(t, err)
		s.do(t, "lose node="+mine+" reply=create")
		if _, err := c.Create(t.Context(), lost, nil, 0); err == nil {
			t.Error("the reply was not lost")
		}
		awaitState(t, states, drivers.Disconnected)
		awaitState(t, states, drivers.Connected)
		if !exists(t, s.direct, lost) {
			t.Error("the request was not executed")
		}
		s.do(t, "expire node="+mine)
		await.Value(t, "the client learns that its session has ended", c.Done())
		if exists(t, s.direct, mine) {
			t.Error("the node of the session that has ended is still there")
		}
	})
	t.Run("etcd", func(t *testing.T) {
		encryption, security := certified(t)
		s := newStageBehind(t, encryption, security, "etcd", backendtest.SharedEtcd(t))
		trust, err := security.TLSConfig()
		must(t, err)
		c := s.library(t, trust)
		hit, other := s.keys(t)
		answers, others := watch(t, c, hit), watch(t, c, other)
		s.end(t, "compact-watch", hit)
		if r, _ := next(t, answers); !errors.Is(r.Err(), rpctypes.ErrCompacted) {
			t.Errorf("got %+v, %v, want the error of a compaction", r, r.Err())
		}
		s.undisturbed(t, c, other, others)
		s.do(t, "cut clients=all")
		await.True(t, "the client does not connect again", func() bool {
			_, err := c.Put(t.Context(), other, "after")
			return err == nil
		})
		if r, open := next(t, others); !open || len(r.Events) == 0 {
			t.Errorf("after the connection broke, the other watch got %+v, %v", r, open)
		}
	})
}

// TestHTTP1 has a client that speaks HTTP/1.1, as those of etcd's gateway, be one that faults can hit, and its answers pass.
func TestHTTP1(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	client := &http.Client{Transport: new(http.Transport)}
	t.Cleanup(client.CloseIdleConnections)
	answer, err := client.Get("http://" + s.proxy.Addresses()[0] + "/version")
	must(t, err)
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "etcdserver") {
		t.Errorf("got %s, %q, %v", answer.Status, text, err)
	}
	if done := s.do(t, "break-stream clients=all"); done[0].What != "break-stream 1 of 1 clients, which had no such gRPC watch" {
		t.Errorf("did %q", done[0].What)
	}
}
