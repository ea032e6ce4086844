package observe

import (
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// Limits bound what an Analysis keeps.
type Limits struct {
	Patterns int // path patterns; all further ones share one row
	Watches  int // standing watches; further ones are counted only
	Changes  int // writes whose notifications may still come
	Paths    int // paths whose pattern is remembered

	// What is beyond the following is counted only: see Traffic.
	Connections int // open connections; of further ones messages are counted
	Sessions    int // sessions that have not ended; of further ones messages are counted
	Children    int // ephemeral and sequential nodes that exist
	Lines       int // nodes with sequential children
	Requests    int // requests without a reply, over all connections
	Waiting     int // writes and notifications whose effect or cause may still be seen; the oldest are decided early
}

// DefaultLimits take some hundred megabytes at most with paths of 100 bytes, and some gigabytes with the
// longest paths that are followed.
var DefaultLimits = Limits{
	Patterns: 512, Watches: 1 << 20, Changes: 1 << 14, Paths: 1 << 16,
	Connections: 1 << 17, Sessions: 1 << 17, Children: 1 << 16, Lines: 1 << 14, Requests: 1 << 20, Waiting: 1 << 19,
}

// An Analysis adds up what it observes. It is a traffic.Observer. Its methods may be called from
// any goroutine.
type Analysis struct {
	mu     sync.Mutex
	limits Limits
	meter  *fanout.Meter
	table  *client.Table
	now    time.Time // the latest time of a message
	from   time.Time
	swept  time.Time // when expired sessions were last looked for

	all      totals
	patterns *pattern.Table
	paths    map[string]*place
	lines    map[string]*waitingLine
	sessions map[int64]*session
	byMeter  map[*fanout.Session]*session // those that have not ended
	ended    map[*fanout.Session]*session // those that have, before the causes of all their notifications were known
	changes  map[fanout.Trigger]*change
	clients  map[any]*activity // by their keys
	oldest   []*change         // in the order of their first notification, some complete
	largest  []ranked
	tracer   *causality.Tracer
	lone     client.Set              // sessions that were notified by connections that carry nothing else
	idle     map[*client.Origin]idle // by their process or host
	orphans  map[string]*orphan      // by their nodes and those above
	serials  int64                   // sessions that were numbered
	watches  pattern.Level           // as of each pattern
	live     pattern.Level
	children int        // that are kept
	followed int        // open connections that are followed
	requests int        // without a reply
	idled    time.Time  // when empty lines were last dropped
	parted   []playback // watches with a number that have ended, the latest last
	held     []*held    // confirmed watches that may still be refused, the oldest first, and some that no longer may
}

// totals are the counts over all patterns and sessions.
type totals struct {
	connections, joined, open int64
	resumed, ended, lost      int64
	requests, messages, bytes int64
	armed                     int64 // requests that armed a watch
	mostOfSession             int
	audited, unjudged         int64 // sessions
	pattern.Undelivered
	reads, writes, failed      int64
	notifications              int64
	rearms                     int64
	coverage                   traffic.Coverage
	unfollowed                 int64 // watches beyond the limit
	beyond                     observation.Beyond
	openSessions, mostSessions int64
	openLeases, mostLeases     int64 // a lease that expires counts as open
	churn                      client.Churn
	rearming                   client.Rearmings
	triggers, foreign          int64
	fanout                     metrics.Tally
	latency                    [drivers.OpFlush + 1]metrics.CoarseHistogram
}

// New returns an Analysis that has observed nothing.
func New(l Limits) *Analysis {
	a := &Analysis{
		limits: l, patterns: pattern.NewTable(l.Patterns), paths: map[string]*place{}, lines: map[string]*waitingLine{},
		sessions: map[int64]*session{}, byMeter: map[*fanout.Session]*session{}, ended: map[*fanout.Session]*session{}, changes: map[fanout.Trigger]*change{}, clients: map[any]*activity{},
		table: client.New(l.Sessions), tracer: causality.New(l.Changes), orphans: map[string]*orphan{}, idle: map[*client.Origin]idle{},
	}
	a.all.fanout = metrics.Tally{}
	a.meter = fanout.NewListening(listener{a}, func() time.Time { return a.now }, l.Waiting)
	return a
}

// setTime goes on to the time of an event. One of another connection may be reported late, such as the end
// of a connection that a capture does not show.
func (a *Analysis) setTime(at time.Time) {
	if at.After(a.now) {
		a.now = at
	}
	if a.from.IsZero() {
		a.from = at
	}
}

// Open reports a connection.
func (a *Analysis) Open(c traffic.Connection) traffic.Tap {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setTime(c.At)
	a.all.connections++
	a.all.open++
	if c.Joined {
		a.all.joined++
	}
	t := &tap{a: a, c: c, of: a.table.Open(c)}
	if t.out = a.followed >= a.limits.Connections; t.out {
		a.all.beyond.Connections++
	} else {
		a.followed++
	}
	return t
}

// A place is a path with its pattern.
type place struct {
	path    string
	parent  *place // nil for the root
	pattern *pattern.Pattern
	named   bool      // by a message, not only as the parent of another
	sets    int       // requests to set it since it was created
	author  int64     // serial number of the client that wrote it last, 0 if that is not known
	written time.Time // when the last reply came that says so
	winner  *wake     // after which its session wrote it last, nil if nothing had woken it
	taker   *wake     // after which its session deleted it last
	losers  []*wake   // after which sessions failed to write it before that was known
	raced   bool      // sessions race for the node: one could not create it, or created it when it was told of its end
	members []*child  // the ephemeral nodes below it that stand in no line, in the order of their creation; at most pattern.MaxSessions
}

// fastest returns where the notification is kept after which a session wrote the place last, or deleted it.
func (p *place) fastest(taking bool) **wake {
	if taking {
		return &p.taker
	}
	return &p.winner
}

// place returns the place of a path that a message names.
func (a *Analysis) place(path []byte) *place {
	p := a.lookUp(path)
	if !p.named {
		p.named = true
		p.pattern.Places++
	}
	return p
}

func (a *Analysis) lookUp(path []byte) *place {
	if p := a.paths[string(path)]; p != nil {
		return p
	}
	return a.newPlace(string(path))
}

func (a *Analysis) newPlace(path string) *place {
	p := &place{path: path}
	if up := pathname.Parent(path); up != "" { // a part of the same text
		if p.parent = a.paths[up]; p.parent == nil {
			p.parent = a.newPlace(up)
		}
	}
	var up *pattern.Pattern
	if p.parent != nil {
		up = p.parent.pattern
	}
	p.pattern = a.patterns.Named(pathname.Fold(path), up)
	if len(a.paths) >= a.limits.Paths { // counted after the nodes above it have been entered
		clear(a.paths)
	}
	a.paths[path] = p
	return p
}

// finish decides what is still open. Only at the end of the observation all is known that will
// ever be.
func (a *Analysis) finish() {
	a.swept = time.Time{}
	a.expire()
	for _, s := range a.byMeter {
		s.settle(a)
	}
	a.meter.Finish() // what the last notifications show is evidence for who was not told
	for _, s := range a.byMeter {
		s.stopAudit()
	}
	for t, c := range a.changes {
		a.flush(c)
		delete(a.changes, t)
	}
	a.oldest = nil
	a.tracer.Finish()
}

// SoFar returns what has been observed until now. Unlike Report it decides nothing that is still
// open: a change counts once no further notification of it can come.
func (a *Analysis) SoFar() observation.Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meter.Prune()
	return a.reportNow()
}

// Patterns returns the path patterns with requests or notifications, sorted by path. The last one is
// "others" if there were more than the limit.
func (a *Analysis) Patterns() []observation.Pattern {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meter.Prune()
	return a.patterns.SoFar()
}
