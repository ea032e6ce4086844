package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// A fanoutJudge judges the writes of a fan-out and the notifications of them by the steps of all clients. It
// takes them in the order of [check.Ordered] or as they happen, and remembers the writes of which a watcher
// may still be notified.
type fanoutJudge struct {
	watchers int
	heard    func(*judgedWrite) // takes a write of which all watchers have heard

	writes map[int64]*judgedWrite
	made   int64 // the last write that was requested
	last   int64 // the last write that was acknowledged
	safety metrics.Safety
}

// A judgedWrite is a write and its watchers, by the steps of all processes.
type judgedWrite struct {
	number          int64
	issued, written check.TimedStep
	notified        []time.Duration // when
	wrong           time.Duration   // by how much the largest of these times may be wrong
	missed          int
}

func newFanoutJudge(watchers int, heard func(*judgedWrite)) *fanoutJudge {
	return &fanoutJudge{watchers: watchers, heard: heard, writes: map[int64]*judgedWrite{}}
}

// Take takes the next step. The caller holds a lock.
func (j *fanoutJudge) Take(s check.TimedStep) {
	if s.Kind == check.Saw {
		if s.Turn < j.last {
			j.addFinding(s, "was never notified of write %d", s.Turn+1)
		}
		return
	}
	w := j.writes[s.Turn]
	if w == nil {
		w = &judgedWrite{number: s.Turn}
		j.writes[s.Turn] = w
	}
	switch s.Kind {
	case check.Updating:
		w.issued, j.made = s, max(j.made, s.Turn)
	case check.Written:
		w.written, j.last = s, max(j.last, s.Turn)
	case check.Notified:
		w.notified, w.wrong = append(w.notified, s.Middle()), max(w.wrong, s.Error())
		if s.Turn > j.made {
			j.addFinding(s, "was notified of write %d, which was not made", s.Turn)
		}
	case check.Missed:
		if w.missed++; s.Turn > j.made {
			j.addFinding(s, "read version %d, which was never written", s.Turn)
		}
	}
	if w.written.Kind != 0 && len(w.notified)+w.missed >= j.watchers {
		delete(j.writes, s.Turn)
		j.heard(w)
	}
}

func (j *fanoutJudge) addFinding(s check.TimedStep, format string, number int64) {
	check.AddFinding(&j.safety, s.Disturbed, fmt.Sprintf("client %d "+format, s.Client+1, number))
}

// ended returns when the write was acknowledged and the last watcher notified.
func (w *judgedWrite) ended() time.Duration {
	return slices.Max(append(w.notified, w.written.Middle()))
}

// measure calls record with the times of the phases of the write, and adds them to times.
func (w *judgedWrite) measure(
	times *metrics.FanoutTimes, record func(phase string, service, response time.Duration),
) {
	issued := w.issued.Middle()
	after := w.notified
	for i, at := range after {
		after[i] = max(at-issued, 0)
	}
	slices.Sort(after) // they are almost in order
	each := func(phase string, d time.Duration) { record(phase, d, d+w.issued.Lag) }
	if n := len(after); n > 0 {
		each(firstPhase, after[0])
		each(medianPhase, after[(n-1)/2])
		each(lastPhase, after[n-1])
	}
	for _, d := range after {
		each(eachPhase, d)
	}
	times.Add(w.written.Middle()-issued, after, w.missed)
}

// Judge returns the times of the notifications, and the watchers that were notified too early or not at all.
func (w *fanoutWorkload) Judge(g divided.Gathered) divided.Findings {
	f := divided.Findings{Fanout: &metrics.FanoutTimes{}}
	judge := newFanoutJudge(g.Clients, func(u *judgedWrite) {
		over := u.ended()
		due := u.issued.Middle() - u.issued.Lag
		if over < g.Window.Begin || over > g.Window.End && !(g.Open && due <= g.Window.End) {
			return
		}
		u.measure(f.Fanout, func(phase string, service, response time.Duration) {
			f.Times = append(f.Times, check.Time{Phase: phase, Service: service, Response: response, At: over,
				Error: u.wrong + u.issued.Error()})
		})
	})
	var last []check.TimedStep // what each watcher saw last
	for _, s := range check.Ordered(g.Steps) {
		if s.Kind == check.Saw {
			last = append(last, s)
			continue
		}
		judge.Take(s)
		if at := s.Middle(); s.Kind == check.Written && at >= g.Window.Begin && at <= g.Window.End {
			f.Fanout.FellBehind(len(judge.writes))
		}
	}
	for _, s := range last {
		judge.Take(s)
	}
	f.Added = judge.safety
	return f
}

// Taker returns the writer.
func (w *fanoutWorkload) Taker(int64) int { return w.clients }

// Taker returns the first client: its process starts the rounds.
func (w *stormWorkload) Taker(int64) int { return 0 }
