package fanout_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// BenchmarkDeliveryCheck compares the processor time of clients and server for changes of one node that 8 watchers read, with a
// Meter that checks the delivery of notifications and one that does not. It reports the quartiles of the ratio over pairs of
// runs, whose order alternates.
//
//	go test -run '^$' -bench DeliveryCheck -benchtime 40x ./metrics/fanout
func BenchmarkDeliveryCheck(b *testing.B) {
	address := backendtest.Native(b, server.Options{})
	s, err := lean.New(lean.Config{Servers: []string{address}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var ratios []float64
	for i := 0; b.Loop(); i++ {
		checked := fanout.NewCheckedMeter(metrics.NewWindow(), true)
		meters := []*fanout.Meter{checked, fanout.NewMeter(metrics.NewWindow())}
		took := map[*fanout.Meter]time.Duration{}
		for j := range meters {
			m := meters[(i+j)%2]
			took[m] = changes(b, s, m)
		}
		if d := checked.Delivery(); d.Violations > 0 || d.Notifications == 0 {
			b.Fatalf("%+v", d)
		}
		ratios = append(ratios, float64(took[checked])/float64(took[meters[1]]))
	}
	slices.Sort(ratios)
	for name, at := range map[string]int{"lower": 1, "median": 2, "upper": 3} {
		b.ReportMetric(ratios[min(at*len(ratios)/4, len(ratios)-1)], name)
	}
	b.ReportMetric(0, "ns/op") // a pair of runs has a fixed number of changes
}

// changes returns the processor time of a number of changes, each of which all watchers have read before the next.
func changes(b *testing.B, s *lean.Service, m *fanout.Meter) time.Duration {
	const watchers, changes = 8, 1500
	dial := func() drivers.Conn {
		c, err := s.Dial(b.Context(), drivers.Options{Probe: m.Session()})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	writer := dial()
	defer writer.Close()
	if _, err := writer.Create(b.Context(), "/changes", nil, drivers.Ephemeral); err != nil {
		b.Fatal(err)
	}
	armed := make(chan error)
	next := func(c drivers.Conn) {
		var feed drivers.Feed
		for range changes {
			_, _, err := c.Get(b.Context(), "/changes", feed.Fire)
			armed <- err
			if err != nil {
				return
			}
			if _, err := feed.Await(b.Context()); err != nil {
				armed <- err
				return
			}
		}
	}
	for range watchers {
		c := dial()
		defer c.Close()
		go next(c)
	}
	began := used(b)
	for range changes {
		for range watchers {
			if err := <-armed; err != nil {
				b.Fatal(err)
			}
		}
		if _, err := writer.Set(b.Context(), "/changes", nil, drivers.AnyVersion); err != nil {
			b.Fatal(err)
		}
	}
	return used(b) - began
}

// used returns the processor time that this process has used.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
