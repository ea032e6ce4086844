package fanout

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// BenchmarkPlainRead measures the Meter's cost for a get without a watch.
func BenchmarkPlainRead(b *testing.B) {
	s := NewMeter(metrics.NewWindow()).Session()
	ask := drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: []byte("/a"), Size: 40}
	answer := drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Pos: 1, Size: 100}
	b.ReportAllocs()
	for b.Loop() {
		s.Message(ask)
		s.Message(answer)
	}
}

// BenchmarkSet measures the Meter's cost for a write that causes no notification.
func BenchmarkSet(b *testing.B) {
	s := NewMeter(metrics.NewWindow()).Session()
	ask := drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/l/a"), Size: 40}
	answer := drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: ask.Path, Size: 100}
	b.ReportAllocs()
	for b.Loop() {
		answer.Pos++
		s.Message(ask)
		s.Message(answer)
	}
}

// BenchmarkHerd measures the Meter's cost per notification for a set that notifies 128
// sessions, each of which reads again with a watch.
func BenchmarkHerd(b *testing.B) { herd(b, NewMeter(metrics.NewWindow()), false) }

// BenchmarkHerdFollowed is BenchmarkHerd while one write after the other is followed.
func BenchmarkHerdFollowed(b *testing.B) { herd(b, NewMeter(metrics.NewWindow()), true) }

func herd(b *testing.B, m *Meter, followed bool) {
	writer := m.Session()
	var watchers []*Session
	for range 128 {
		watchers = append(watchers, m.Session())
	}
	path := []byte("/l")
	set := drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: path}
	done := drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: path}
	ask := drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: path, Watch: true}
	armed := drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Path: path, Watch: true}
	event := drivers.Message{Kind: drivers.Notification, Path: path, Event: drivers.DataChanged}
	done.Pos = 1
	for _, w := range watchers {
		armed.Pos = done.Pos
		w.Message(ask)
		w.Message(armed)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%len(watchers) == 0 {
			if followed {
				m.Follow()
			}
			writer.Message(set)
			done.Pos++
			writer.Message(done)
			armed.Pos = done.Pos
		}
		w := watchers[n%len(watchers)]
		w.Message(event)
		w.Message(ask)
		w.Message(armed)
	}
}
