package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// An AgentJournal is the journal of one agent.
type AgentJournal struct {
	Journal *Recording
	// Time converts the agent's times to those of the coordinator. Of two times the later one must not
	// become the earlier.
	Time func(time.Duration) time.Duration
	// Error is the largest error of these times.
	Error time.Duration
}

// A Window is the measured part of a run, in the coordinator's time, and how its time line is drawn.
type Window struct {
	Begin, End time.Duration
	Bin        time.Duration // 0: metrics.DefaultBin
}

// ErrIncomplete means that an agent had more packets than its journal can hold.
var ErrIncomplete = errors.New("an agent had too many packets for its journal: the fan-out is not known; use a shorter --duration")

// postponed is the least time for which notifications wait for the writes that may have caused them.
const postponed = 100 * time.Millisecond

// Replay gives the packets of all agents to one meter, and returns what it finds in the window.
//
// The packets are in the order of their times, which are wrong by the errors of the agents' clocks: a
// notification may come before the request of its write. So notifications are assigned only when all
// packets of a longer time than these errors have been seen.
func Replay(parts []AgentJournal, w Window) (metrics.Herd, error) {
	r := newReplay(parts, w)
	for r.step() {
	}
	return r.herd()
}

// A replay is one in progress.
type replay struct {
	parts   []*playing
	until   time.Duration // the end of the window
	now     time.Duration
	meter   *fanout.Meter
	delay   time.Duration
	turn    time.Duration // when the next delay begins
	resumes []func()      // of the delays that have not ended, at most two
	failure error
}

// A playing is a part with its next packet.
type playing struct {
	reader
	at       time.Duration // of the next packet, in the coordinator's time
	more     bool          // there is a next packet
	time     func(time.Duration) time.Duration
	sessions map[int]*fanout.Session
}

func newReplay(parts []AgentJournal, w Window) *replay {
	r := &replay{until: w.End, delay: postponed}
	for _, p := range parts {
		if p.Journal.dropped {
			r.failure = ErrIncomplete
		}
		play := &playing{reader: reader{rest: p.Journal.text}, time: p.Time, sessions: map[int]*fanout.Session{}}
		play.advance()
		r.parts, r.delay = append(r.parts, play), max(r.delay, 4*p.Error)
	}
	if first := r.first(); first != nil {
		r.now = first.at
	}
	window := metrics.NewWindow()
	window.Open(time.Unix(0, int64(w.Begin)))
	window.Close(time.Unix(0, int64(w.End)))
	r.meter, r.turn = fanout.NewMeterAt(window, func() time.Time { return time.Unix(0, int64(r.now)) }), r.now
	if w.Bin > 0 {
		r.meter.SetBin(w.Bin)
	}
	return r
}

// advance reads the next packet of the part.
func (p *playing) advance() {
	if p.more = p.next(); p.more {
		p.at = p.time(p.reader.at)
	}
}

// first returns the part with the earliest packet, nil if there is none.
func (r *replay) first() (earliest *playing) {
	for _, p := range r.parts {
		if p.more && (earliest == nil || p.at < earliest.at) {
			earliest = p
		}
	}
	return earliest
}

// step gives the meter the next packet, and reports whether there was one.
func (r *replay) step() bool {
	p := r.first()
	if p == nil || r.failure != nil {
		return false
	}
	r.advanceTo(p.at)
	s := p.sessions[p.session]
	if s == nil {
		s = r.meter.Session()
		p.sessions[p.session] = s
	}
	s.Message(p.message)
	p.advance()
	return true
}

// advanceTo moves the replay's time.
func (r *replay) advanceTo(at time.Duration) {
	r.now = max(r.now, at)
	if r.now < r.turn {
		return
	}
	r.resumes = append(r.resumes, r.meter.Postpone())
	r.turn = r.now + r.delay
	if len(r.resumes) > 2 {
		r.resumes[0]()
		r.resumes = r.resumes[1:]
	}
}

// herd returns the result.
func (r *replay) herd() (metrics.Herd, error) {
	for i, p := range r.parts {
		if p.err != nil {
			return metrics.Herd{}, fmt.Errorf("agent %d: %w", i+1, p.err)
		}
	}
	if r.failure != nil {
		return metrics.Herd{}, r.failure
	}
	r.now = max(r.now, r.until)
	return r.meter.Herd(), nil
}
