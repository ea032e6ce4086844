package recovery

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// limits bound what an Analysis keeps.
type limits struct {
	events   int // that wait; the oldest are analysed early, so that a fault at their time comes too late
	holders  int // sessions
	things   int // nodes and watches that stand, over all sessions
	begun    int // nodes and watches of a session since the latest fault, of one pattern and of all
	attempts int // connections, and requests, after a fault
}

// defaultLimits take some hundred megabytes at most.
var defaultLimits = limits{events: 1 << 17, holders: 1 << 16, things: 1 << 19, begun: 1 << 10, attempts: 1 << 14}

// lateness is how long after a moment [Analysis.SoFar] judges it: until then a fault of that time may be reported.
const lateness = time.Second

// An Analysis judges the traffic that it gets. It is a traffic.Observer. Its methods may be called from any goroutine.
type Analysis struct {
	// Ended reports whether a process has ended. It is set before the first connection. If it is nil, no process is taken to
	// follow another one.
	Ended func(traffic.Process) bool

	mu        sync.Mutex
	limits    limits
	byProcess bool // sessions have no number

	now    time.Time // the latest time that is known
	queue  []event   // by time, else in the order in which they came
	faults []Fault   // that have not begun, by time
	probes []*Probe  // likewise

	// The rest is the state at the time of the latest event that was taken from the queue.
	at       time.Time
	from     time.Time // the first event
	origins  map[originKey]*origin
	hosts    map[string][]*origin
	lives    lives
	holders  []*holder
	numbered map[int64]*holder // by the number of the session, or of the lease
	owners   map[string]*holder
	taps     map[*tap]bool   // open connections
	expected map[uint64]*tap // by connection: those that Received was called for and Open was not
	lines    map[string]bool // patterns of sequential nodes
	things   int
	sweepAt  int
	serials  int
	full     bool         // a session is not followed
	steady   [kinds]int64 // before the first fault
	began    time.Time    // the first fault
	outcomes []*outcome
	recent   []*outcome // of the faults that have hit sessions latest
	struck   time.Time  // when
	lost     []*row     // whose lost write may still be repeated
	sought   []*Probe   // of the rows that are not settled
	unprobed int64
	wanted   map[string][]*item // of the rows that are not settled, by path
	above    map[string]bool    // the ancestors of these paths
}

// An event is something that was observed.
type event struct {
	at time.Time
	do func()
}

// New returns an Analysis of the traffic of a service, by the name of its protocol: "zookeeper" or "etcd".
func New(service string) *Analysis {
	return &Analysis{
		limits: defaultLimits, byProcess: service == "etcd", origins: map[originKey]*origin{}, hosts: map[string][]*origin{}, lives: lives{},
		numbered: map[int64]*holder{}, owners: map[string]*holder{}, taps: map[*tap]bool{}, lines: map[string]bool{},
		wanted: map[string][]*item{}, above: map[string]bool{}, expected: map[uint64]*tap{},
	}
}

// Fault reports a fault that was done. It may be called before or after the messages of that time, but not after more
// than a hundred thousand later ones, and not a second after [Analysis.SoFar] was called at a later time.
func (a *Analysis) Fault(f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.faults, f, func(x, y Fault) int {
		if x.At.After(y.At) {
			return 1
		}
		return -1
	})
	a.faults = slices.Insert(a.faults, i, f)
}

// Advance reports that the observation has come to a time, also if nothing is observed. Call it before Report, so that
// it is known for how long a client has been silent.
func (a *Analysis) Advance(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reach(at)
}

func (a *Analysis) reach(at time.Time) {
	if at.After(a.now) {
		a.now = at
	}
}

// Open reports a connection.
func (a *Analysis) Open(c traffic.Connection) traffic.Tap {
	a.mu.Lock()
	t := cmp.Or(a.expected[c.ID], newTap(a))
	t.c = c
	delete(a.expected, c.ID)
	a.mu.Unlock()
	t.later(c.At, t.opened)
	return t
}

// Missed reports traffic that was not decoded. No session is known of it.
func (a *Analysis) Missed(traffic.Undecoded) {}

// Report decides at the end of the observation.
func (a *Analysis) Report() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.faults {
		a.reach(f.At)
	}
	for _, p := range a.probes {
		a.reach(p.At)
	}
	return a.reportAt(a.now)
}

// SoFar returns the report of what was observed until a second ago.
func (a *Analysis) SoFar() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reportAt(a.now.Add(-lateness))
}

// reportAt analyses what was observed until a time and reports it.
func (a *Analysis) reportAt(at time.Time) Report {
	n := slices.IndexFunc(a.queue, func(e event) bool { return e.at.After(at) })
	if n < 0 {
		n = len(a.queue)
	}
	a.take(n)
	a.beginFaults(at)
	if at.After(a.at) {
		a.at = at
	}
	return a.report()
}

// enqueue keeps an event until the faults of its time are known.
func (a *Analysis) enqueue(at time.Time, do func()) {
	a.reach(at)
	i := len(a.queue)
	for i > 0 && a.queue[i-1].at.After(at) {
		i--
	}
	if a.queue = slices.Insert(a.queue, i, event{at, do}); len(a.queue) > a.limits.events {
		a.take(len(a.queue)/16 + 1)
	}
}

// take analyses the first events of the queue.
func (a *Analysis) take(n int) {
	for _, e := range a.queue[:n] {
		a.beginFaults(e.at)
		if e.at.After(a.at) {
			a.at = e.at
		}
		if a.from.IsZero() {
			a.from = e.at
		}
		e.do()
	}
	left := copy(a.queue, a.queue[n:])
	clear(a.queue[left:])
	a.queue = a.queue[:left]
}

// beginFaults begins the faults, and the probes after them, until a time.
func (a *Analysis) beginFaults(at time.Time) {
	for {
		fault := len(a.faults) > 0 && !a.faults[0].At.After(at)
		probe := len(a.probes) > 0 && !a.probes[0].At.After(at)
		switch {
		case fault && (!probe || !a.faults[0].At.After(a.probes[0].At)):
			f := a.faults[0]
			a.faults = a.faults[1:]
			a.beginFault(f)
		case probe:
			p := a.probes[0]
			a.probes = a.probes[1:]
			a.beginProbe(p)
		default:
			return
		}
	}
}
