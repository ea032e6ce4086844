package etcd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

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

// Counters reads the count. Reads and writes are those of keys: etcd does not count
// transactions. Events that the client drops are included.
func (s *Service) Counters(ctx context.Context) (drivers.Counters, error) {
	now, err := s.metrics(ctx)
	if err != nil {
		return drivers.Counters{}, err
	}
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	grown := func(name string) float64 { return now[name] - s.counters.since[name] }
	return drivers.Counters{
		Notifications: int64(grown(eventsSent)),
		Reads:         int64(grown(ranges)),
		Writes:        int64(grown(puts) + grown(deletes)),
		Fsyncs:        &drivers.Fsyncs{Count: int64(grown(fsyncs)), Took: time.Duration(grown(fsyncTime) * float64(time.Second))},
	}, nil
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
	ctx, cancel := context.WithTimeout(context.Background(), s.config.DialTimeout)
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
