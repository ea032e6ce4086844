package etcd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// progressEvery is the time after which an unanswered progress request is repeated. The server
// does not answer while a watch lags behind.
const progressEvery = 10 * time.Millisecond

// advance waits until a stream has made progress, or until it is time to ask again.
func advance(ctx context.Context, advanced, done <-chan struct{}) error {
	again := time.NewTimer(progressEvery)
	defer again.Stop()
	select {
	case <-advanced:
	case <-again.C:
	case <-done:
		return drivers.ErrSessionLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// flush waits until all events up to a revision have been delivered to the session's watches: without one etcd reports no progress.
func (s *watcher) flush(ctx context.Context, revision int64, done <-chan struct{}) error {
	for {
		s.mu.Lock()
		reached, advanced := s.rereads == 0 && (s.progress >= revision || s.stream != nil && len(s.byID)+len(s.lastingByID) == 0), s.advanced
		if !reached && s.stream != nil {
			s.stream.progress()
		}
		s.mu.Unlock()
		if reached {
			return nil
		}
		if err := advance(ctx, advanced, done); err != nil {
			return err
		}
	}
}

// flush waits until all events up to a revision have been delivered to the libraries that
// watch through streams of their own.
func (t *tap) flush(ctx context.Context, revision int64, done <-chan struct{}) error {
	for {
		t.mu.Lock()
		var behind []*libraryStream
		for s, reached := range t.libraryStreams {
			if reached < revision {
				behind = append(behind, s)
			}
		}
		advanced := t.advanced
		t.mu.Unlock()
		behind = slices.DeleteFunc(behind, func(s *libraryStream) bool { return s.beginsAfter(revision) })
		if len(behind) == 0 {
			return nil
		}
		for _, s := range behind {
			s.progress()
		}
		if err := advance(ctx, advanced, done); err != nil {
			return err
		}
	}
}

// watches registers a library's stream that has watches.
func (t *tap) watches(s *libraryStream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.libraryStreams[s]; !known {
		t.libraryStreams[s] = 0
	}
}

// reached records that the stream has delivered all events up to a revision.
func (t *tap) reached(s *libraryStream, revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.libraryStreams[s] = revision
	t.advance()
}

// ended unregisters a stream that delivers nothing more.
func (t *tap) ended(s *libraryStream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.libraryStreams, s)
	t.advance()
}

func (t *tap) advance() {
	close(t.advanced)
	t.advanced = make(chan struct{})
}

// counters holds the server's counters at the last Reset, since etcd cannot reset them.
type counters struct {
	mu    sync.Mutex
	since map[string]float64
}

// etcd's counters, over all clients. They do not show which write had the largest fan-out.
const (
	eventsSent = "etcd_debugging_mvcc_events_total"
	ranges     = "etcd_mvcc_range_total"
	puts       = "etcd_mvcc_put_total"
	deletes    = "etcd_mvcc_delete_total"
	fsyncs     = "etcd_disk_wal_fsync_duration_seconds_count"
	fsyncTime  = "etcd_disk_wal_fsync_duration_seconds_sum"
	startTime  = "process_start_time_seconds"
)

// Reset starts the count anew. It does not support several members: each member counts all
// writes, but only its own reads and those of all transactions.
func (s *Service) Reset(ctx context.Context) error {
	if n := len(s.config.Endpoints); n > 1 {
		return fmt.Errorf("what %d members count: %w", n, drivers.ErrUnsupported)
	}
	now, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.since = now
	return nil
}

// Counters reads the count of the first endpoint. Reads and writes are those of keys: etcd does not count
// transactions. Events that the client drops are included.
func (s *Service) Counters(ctx context.Context) (drivers.Reading, error) {
	now, err := s.metrics(ctx)
	if err != nil {
		return nil, err
	}
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	grown := func(name string) float64 { return now[name] - s.counters.since[name] }
	return drivers.Reading{{
		Began: time.Unix(0, int64(now[startTime]*float64(time.Second))),
		Counters: drivers.Counters{
			Notifications: int64(grown(eventsSent)),
			Reads:         int64(grown(ranges)),
			Writes:        int64(grown(puts) + grown(deletes)),
			Fsyncs:        &drivers.Fsyncs{Count: int64(grown(fsyncs)), Took: time.Duration(grown(fsyncTime) * float64(time.Second))},
		},
	}}, nil
}

// metrics returns the counters from the endpoint's Prometheus metrics.
func (s *Service) metrics(ctx context.Context) (map[string]float64, error) {
	body, err := s.ask(ctx, s.config.Endpoints[0], "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	counters := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil && !strings.Contains(name, "{") {
			counters[name] = n
		}
	}
	return counters, lines.Err()
}

// askVersion asks the endpoints in turn until one answers.
func (s *Service) askVersion() (version string, err error) {
	for _, endpoint := range s.config.Endpoints {
		if version, err = s.versionOf(endpoint); err == nil {
			return version, nil
		}
	}
	return "", err
}

func (s *Service) versionOf(endpoint string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	body, err := s.ask(ctx, endpoint, "/version")
	if err != nil {
		return "", err
	}
	defer body.Close()
	var version struct{ Etcdserver string }
	if err := json.NewDecoder(body).Decode(&version); err != nil {
		return "", err
	}
	return "etcd " + version.Etcdserver, nil
}

func (s *Service) ask(ctx context.Context, endpoint, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.scheme()+endpoint+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", request.URL, answer.Status)
	}
	return answer.Body, nil
}
