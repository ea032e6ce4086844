package export_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/observe"
)

// A client is an observed session.
type client struct{ traffic.Tap }

func newClient(a *observe.Analysis, id int64) client {
	t := a.Open(traffic.Connection{ID: uint64(id), Client: "192.0.2.1:5", At: time.Unix(id, 0)})
	t.Session(time.Unix(id, 0), traffic.Session{ID: id, Timeout: time.Minute})
	return client{t}
}

func (c client) call(m drivers.Message) {
	m.Kind = drivers.Request
	c.Message(time.Unix(10, 0), m)
	m.Kind = drivers.Reply
	c.Message(time.Unix(10, 0), m)
}

// changed returns an analysis in which two clients have watched each path, another has set it, and
// the two watch again.
func changed(paths ...string) *observe.Analysis {
	a := observe.New(observe.DefaultLimits)
	writer, watchers := newClient(a, 1), []client{newClient(a, 2), newClient(a, 3)}
	for i, path := range paths {
		pos := 10 * int64(i)
		read := drivers.Message{Op: drivers.OpGet, Path: []byte(path), Watch: true}
		for _, w := range watchers {
			read.Pos = pos + 1
			w.call(read)
		}
		writer.call(drivers.Message{Op: drivers.OpSet, Path: []byte(path), Pos: pos + 2})
		for _, w := range watchers {
			w.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(path)})
			read.Pos = pos + 3
			w.call(read)
		}
	}
	a.Report() // decides what is open
	return a
}

// Prometheus gets the counts of an observation by path, with bytes that are not UTF-8 replaced.
func TestPrometheusGetsAnObservation(t *testing.T) {
	a := changed("/config", "/odd\xff")
	a.Missed(traffic.Undecoded{Cause: traffic.Late, Bytes: 5})
	a.Missed(traffic.Undecoded{Cause: traffic.Words, Bytes: 100}) // is harmless
	s, err := export.Serve("127.0.0.1:0", export.Observed("native", a))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := get(t, "http://"+s.Addr+"/metrics")
	for _, line := range []string{
		`stampede_observed_notifications_total{stampede_backend="native",stampede_path="/config"} 2`,
		`stampede_observed_notifications_total{stampede_backend="native",stampede_path="/odd\\xff"} 2`,
		`stampede_observed_wakeups_total{stampede_backend="native",stampede_path="/config",stampede_wakeup="waited_again"} 2`,
		`stampede_observed_wakeups_total{stampede_backend="native",stampede_path="/config",stampede_wakeup="acted"} 0`,
		`stampede_observed_wakeups_wasted{stampede_backend="native",stampede_path="/config"} 0`,
		`stampede_observed_requests_total{stampede_backend="native",stampede_path="/config",stampede_request="get"} 4`,
		`stampede_observed_requests_total{stampede_backend="native",stampede_path="/config",stampede_request="set"} 1`,
		`stampede_observed_watches{stampede_backend="native",stampede_path="/config"} 2`,
		`stampede_observed_change_fanout_count{stampede_backend="native",stampede_path="/config"} 1`,
		`stampede_observed_change_fanout_sum{stampede_backend="native",stampede_path="/config"} 2`,
		`stampede_observed_unanalysed_bytes_total{stampede_backend="native"} 5`,
		`stampede_observed_incomplete{stampede_backend="native",stampede_cause="late"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The number of series has a bound, and what is beyond it is counted as "others".
func TestPathsBeyondTheBoundAreOthers(t *testing.T) {
	var paths []string
	for i := range 150 {
		paths = append(paths, fmt.Sprintf("/service-%c%c", 'g'+i%20, 'g'+i/20))
	}
	got := produced(t, export.Observed("native", changed(paths...)))
	points := got["stampede.observed.notifications"].(metricdata.Sum[int64]).DataPoints
	var all, others int64
	for _, p := range points {
		all += p.Value
		if v, _ := p.Attributes.Value("stampede.path"); v.AsString() == "others" {
			others += p.Value
		}
	}
	if len(points) != 101 || all != 300 || others != 100 {
		t.Errorf("%d series, %d notifications, %d of others; want 101, 300, 100", len(points), all, others)
	}
	if n := len(got["stampede.observed.change.fanout"].(metricdata.ExponentialHistogram[float64]).DataPoints); n != 101 {
		t.Errorf("%d histograms, want 101", n)
	}
}

// A path keeps its series when others have more notifications later, so that no sum decreases.
func TestAPathKeepsItsSeries(t *testing.T) {
	a := changed("/first")
	p := export.Observed("native", a)
	produced(t, p)
	c := newClient(a, 9)
	for i := range 150 {
		path := fmt.Sprintf("/service-%c%c", 'g'+i%20, 'g'+i/20)
		for range 3 {
			c.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(path)})
		}
	}
	for _, p := range produced(t, p)["stampede.observed.notifications"].(metricdata.Sum[int64]).DataPoints {
		if v, _ := p.Attributes.Value("stampede.path"); v.AsString() == "/first" && p.Value == 2 {
			return
		}
	}
	t.Error("the series of /first is gone")
}
