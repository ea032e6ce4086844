package export

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/metrics"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/stampede-bench/stampede"

// A Run identifies one kind of run within a command. The number of series is the number of
// forms times the number of levels (numbers of clients and rates), whatever happens in the
// runs.
type Run struct {
	Recipe, Form, Family string
	Backend              string // its scheme: "zookeeper"
	Clients              int
	Rate                 string // arrival rate: "500/s"; "" in a closed loop
}

func (r Run) attributes() []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("stampede.recipe", r.Recipe),
		attribute.String("stampede.form", r.Form),
		attribute.String("stampede.family", r.Family),
		attribute.String("stampede.backend", r.Backend),
		attribute.Int("stampede.clients", r.Clients),
	}
	if r.Rate != "" {
		all = append(all, attribute.String("stampede.rate", r.Rate))
	}
	return all
}

// A Source is a run in progress.
type Source interface {
	// SoFar returns the measurements until now; they never decrease.
	SoFar() metrics.Record
}

// A Collector sums up finished runs and the runs in progress. Its zero value is ready for use,
// and its methods may be called from any goroutine.
type Collector struct {
	mu     sync.Mutex
	since  time.Time
	order  []Run
	totals map[Run]*total // sums of the finished runs
	live   map[Run]Source
}

// Begin records that a run's window has opened.
func (c *Collector) Begin(r Run, s Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.totals == nil {
		c.since, c.totals, c.live = time.Now(), make(map[Run]*total), make(map[Run]Source)
	}
	if c.totals[r] == nil {
		c.order, c.totals[r] = append(c.order, r), newTotal()
	}
	c.live[r] = s
}

// End records that the run is over, with its result. It ignores a run that never began.
func (c *Collector) End(r Run, record metrics.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live[r] == nil {
		return
	}
	delete(c.live, r)
	c.totals[r].add(record)
}

// Produce implements the Producer interface of the OpenTelemetry SDK.
func (c *Collector) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.order) == 0 {
		return nil, nil
	}
	s := newSheet(c.since, time.Now())
	for _, r := range c.order {
		sum, live := c.totals[r], (*metrics.Record)(nil)
		if source := c.live[r]; source != nil {
			now := source.SoFar()
			sum, live = sum.clone(), &now
			sum.add(now)
		}
		s.put(r, sum, live)
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: Scope}, Metrics: s.metrics()}}, nil
}
