package observe

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
)

// A tap gets what one connection carries.
type tap struct {
	a        *Analysis
	c        traffic.Connection
	of       *client.Connection
	lease    int64                  // that the next request names, 0 for none
	s        *session               // nil until it is known
	opening  []message              // the packets that open the session, while it is not known
	asked    []request              // without an answer
	gaveUp   []*firing              // of the watches that have ended since the last request
	out      bool                   // it is not followed: its messages are only counted
	causes   []traffic.Cause        // why some of its bytes were not decoded
	numbered map[int]*numberedWatch // its watches that have numbers, by these
}

// maxAsked is how many requests without an answer a tap keeps: of further ones the latency and
// the path of the answer are not known.
const maxAsked = 4096

// maxOpening is how many packets a tap keeps that open a session. Two do so.
const maxOpening = 8

type message struct {
	at time.Time
	m  drivers.Message
}

// A request has not been answered.
type request struct {
	op        drivers.Op
	at        time.Time
	place     *place          // nil for a transaction
	lease     int64           // that it names, 0 for none
	work      *causality.Work // that its session was at, nil if at rest
	handsOver bool            // it ends its session, or gives up a turn
	inserts   bool            // it is a put that creates
	woke      *wake           // the latest notification before it, nil if there was none
	offers    []*wake         // notifications that offer what it writes
	from      int64           // revision from which on it asks for changes, 0 for what comes
}

// Session reports the session of the connection.
func (t *tap) Session(at time.Time, s traffic.Session) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	switch {
	case t.out:
	case s.Lease:
		t.granted(s)
	default:
		t.attach(t.a.session(s, t))
	}
}

// granted records that the connection was granted a lease.
func (t *tap) granted(s traffic.Session) {
	if !t.begin() {
		return
	}
	t.of.Granted(s.ID, t.a.now, s.Timeout)
	t.a.unite(t.s)
	t.s.timeout = max(t.s.timeout, s.Timeout)
	t.a.all.churn.Opened++
	t.a.all.openLeases++
	t.a.all.mostLeases = max(t.a.all.mostLeases, t.a.all.openLeases)
}

// begin begins a session of the connection if it has none yet. It returns false if none is followed.
func (t *tap) begin() bool {
	if t.s == nil && !t.out {
		opening := t.opening
		t.opening = nil
		if t.attach(t.a.anonymous(t)); t.s != nil {
			t.a.unite(t.s)
		}
		for _, o := range opening { // a lease is granted by a request like any other
			t.handle(o.at, o.m)
		}
	}
	return !t.out
}

// count adds a message to the totals and to the client.
func (t *tap) count(m *drivers.Message) {
	t.a.all.count(m)
	switch {
	case m.Kind == drivers.Request:
		t.of.Requested()
	case m.Kind == drivers.Notification && m.Event != 0 && len(m.Path) > 0:
		t.of.Notified()
	}
}

// Lease reports the lease that the next request names.
func (t *tap) Lease(at time.Time, id int64) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	if t.begin() {
		t.lease = id
		t.of.Lease(id)
		t.a.unite(t.s)
	}
}

// Owner reports the process that has the connection.
func (t *tap) Owner(p traffic.Process) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.of.Owner(p)
	if t.s != nil && t.s.anonymous {
		t.a.unite(t.s)
	}
}

// revoked records that a lease was revoked. The watches of its session remain.
func (t *tap) revoked(lease, pos int64) {
	lasted, timeout, known := t.of.Revoked(lease, t.a.now)
	t.a.all.ended++
	t.s.settle(t.a)
	t.s.ownsNoMore(t.a, lease, pos)
	if c := &t.a.all.churn; known {
		c.Closed++
		t.a.all.openLeases--
		if lasted < timeout {
			c.ShortLived++
		}
	}
}

// attach says which session the connection serves, nil if that is not followed.
func (t *tap) attach(s *session) {
	if s == nil {
		t.out, t.opening = true, nil
		t.a.followed--
		return
	}
	if t.s != nil {
		t.s.linked(-1)
		t.s.left = t.a.now
	}
	t.s = s
	s.linked(1)
	for _, o := range t.opening {
		t.a.setTime(o.at)
		s.probe.Message(o.m)
	}
	t.opening = nil
}

// Message reports one packet.
func (t *tap) Message(at time.Time, m drivers.Message) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	t.a.tracer.Prune(t.a.now)
	t.a.confirmOld(refusedWithin)
	t.a.expire()
	if m.Kind != drivers.Cut {
		t.a.all.messages++
		t.a.all.bytes += int64(m.Size)
	}
	if t.s == nil && !t.out && m.Op == drivers.OpOpen && len(t.opening) < maxOpening {
		m.Path = nil
		t.opening = append(t.opening, message{at, m})
		return
	}
	t.begin()
	t.handle(at, m)
}

// handle counts a packet that came at the time, and follows it.
func (t *tap) handle(at time.Time, m drivers.Message) {
	if t.playsBack(&m) {
		return
	}
	t.count(&m)
	if t.out {
		return
	}
	m = t.shortened(m)
	m.Path = listed(&m)
	switch m.Kind {
	case drivers.Request:
		t.request(at, &m)
	case drivers.Reply:
		t.reply(&m)
	case drivers.Notification:
		t.notification(&m)
	case drivers.Cut:
		t.s.probe.Message(m)
	}
}

// listed returns the path of the message. etcd's clients read and watch what is below a node by the prefix of its keys,
// which ends in a slash: that is a list and a watch of the node, as in ZooKeeper's protocol.
func listed(m *drivers.Message) []byte {
	below := m.Op == drivers.OpChildren || m.Op == drivers.OpGet || m.Op == drivers.OpWatchTree ||
		m.Op == drivers.OpUnwatch && m.Removes == drivers.TreeWatch
	if end := len(m.Path) - 1; below && m.Kind != drivers.Notification && end > 0 && m.Path[end] == '/' {
		return m.Path[:end]
	}
	return m.Path
}

// maxPath is the length of the longest path that is followed. Every service takes longer ones, but no program
// is known to use them, and of a hostile one each watch and each node above would keep its text.
const maxPath = 1024

// numbered is more than the length of the text that a service adds to the name of a sequential node.
const numbered = 64

// shortened returns the message without the paths that are too long to be followed. What concerns them is
// only counted. A request and its reply stay of one kind.
func (t *tap) shortened(m drivers.Message) drivers.Message {
	long := func(path []byte, op drivers.Op, mode drivers.Mode) bool {
		n := len(path)
		if m.Kind == drivers.Request && op == drivers.OpCreate && mode&drivers.Sequential != 0 {
			n += numbered
		}
		return n > maxPath
	}
	longPart := func(p drivers.TxnOp) bool { return long(p.Path, p.Op, p.Mode) }
	whole, part := long(m.Path, m.Op, m.Mode), slices.ContainsFunc(m.Parts, longPart)
	if whole || part {
		t.a.all.beyond.Paths++
		t.missed(traffic.Undecoded{Cause: traffic.LongPaths, Bytes: int64(m.Size)})
	}
	if m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), longPart); part && len(m.Parts) == 0 {
		m.Op = drivers.OpOther
	}
	if whole {
		m.Path, m.Watch = nil, false
		if m.Op.IsWrite() || m.Op.IsWatch() {
			m.Op = drivers.OpOther
		}
	}
	return m
}

func (t *tap) request(at time.Time, m *drivers.Message) {
	a := t.a
	t.s.heard = at
	r := request{op: m.Op, at: at, lease: t.lease}
	if m.Op.IsWatch() {
		r.from = m.Pos
	}
	t.lease = 0
	if m.Op == drivers.OpPing && r.lease != 0 {
		t.of.Kept(r.lease)
	}
	if len(m.Parts) == 0 && len(m.Path) > 0 {
		r.place = a.requestPlace(m)
	}
	if r.place != nil && m.Op == drivers.OpSet && t.s.inserts(m.Mode, r.place) {
		r.inserts = true
		m = inserted(m)
	}
	if m.Alone && r.place != nil {
		t.s.of.WatchAlone(r.place.pattern.Op(m.Op).By)
		a.unite(t.s)
	}
	t.goOn(m.Op)
	t.s.asks(a, m, &r)
	r.woke = t.s.woke
	switch {
	case m.Op == drivers.OpRearm: // its parts are no requests
	case len(m.Parts) > 0:
		for p := range parts(m) {
			t.s.countRequest(a, p, a.requestPlace(p), &r)
		}
	case r.place != nil:
		t.s.countRequest(a, m, r.place, &r)
	}
	switch {
	case m.Op == drivers.OpRearm:
		t.s.rearmedAll(a)
		t.s.setAgain(a, m)
	case m.Op.IsWrite():
		t.s.writes++
	}
	if !t.await(r) {
		return // the meter would wait for the reply to a write, too
	}
	t.s.probe.Message(t.goesOn(*m, r))
}

// goesOn returns the message as the meter gets it: a connection to etcd goes on when it is granted a lease or
// revokes one, and so do its watches.
func (t *tap) goesOn(m drivers.Message, r request) drivers.Message {
	switch {
	case m.Op == drivers.OpOpen && t.s.anonymous:
		m.Op = drivers.OpOther
	case m.Op == drivers.OpClose && m.Kind == drivers.Request && r.lease != 0:
		m.Op = drivers.OpMulti
	}
	return m
}

// await keeps the request until it is answered, unless there are too many.
func (t *tap) await(r request) bool {
	if len(t.asked) >= maxAsked || t.a.requests >= t.a.limits.Requests {
		t.a.all.beyond.Requests++
		r.work.Answered(t.a.now, false)
		return false
	}
	t.a.requests++
	t.asked = append(t.asked, r)
	return true
}

// count adds a message to the totals, also one of a connection that is not followed.
func (t *totals) count(m *drivers.Message) {
	switch {
	case m.Kind == drivers.Request:
		t.requests++
		switch {
		case m.Op == drivers.OpRearm:
			t.rearms++
		case m.Op.IsRead():
			t.reads++
		case m.Op.IsWrite():
			t.writes++
		}
	case m.Kind == drivers.Reply && m.Op.IsWrite() && m.Err != nil:
		t.failed++
	case m.Kind == drivers.Reply && armed(m):
		t.armed++
	case m.Kind == drivers.Notification && m.Event != 0 && len(m.Path) > 0:
		t.notifications++
	}
}

// bounded returns the reply as the meter gets it: without the watch or the owner of a node that
// would be beyond the limits.
func (t *tap) bounded(m drivers.Message) drivers.Message {
	a := t.a
	_, again := t.s.watches[watchKey{string(m.Path), m.Op == drivers.OpChildren || m.Op == drivers.OpWatchTree, m.Op.IsWatch()}]
	if m.Watch && a.watches.Now >= int64(a.limits.Watches) && !again {
		m.Watch = false
		if m.Op.IsWatch() {
			m.Op = drivers.OpOther
		}
	}
	if a.children >= a.limits.Children {
		m.Mode &^= drivers.Ephemeral
		m.Parts = slices.Clone(m.Parts)
		for i := range m.Parts {
			m.Parts[i].Mode &^= drivers.Ephemeral
		}
	}
	return m
}

// requestPlace returns the place of a request. The number that a sequential create will get is part of
// the pattern.
func (a *Analysis) requestPlace(m *drivers.Message) *place {
	p := m.Path
	if m.Op == drivers.OpCreate && m.Mode&drivers.Sequential != 0 {
		p = append(append([]byte(nil), p...), "0000000000"...)
	}
	if m.Op == drivers.OpChildren || m.Op == drivers.OpWatchTree { // it is about the nodes below
		return a.lookUp(p)
	}
	return a.place(p)
}

func (t *tap) reply(m *drivers.Message) {
	if m.Op == drivers.OpUnwatch && m.Watch {
		if m.Err != nil && t.refuse(m) {
			return
		}
		t.confirm(t.numbered[m.Number])
		t.givesUp(m)
		t.part(m.Number)
		if t.a.endedWatch(t.s, m) {
			return
		}
	}
	r, known := t.answer(m.Op)
	if known {
		t.a.all.latency[m.Op].Add(t.a.now.Sub(r.at))
		before := r.work.Answered(t.a.now, m.Op.IsWrite() && m.Err != nil)
		if m.Op.IsWrite() || m.Op == drivers.OpClose {
			t.tag(m, r, before)
		}
	} else {
		t.s.probe.Tag(nil)
	}
	switch {
	case m.Op.IsWatch() && m.Err == nil:
		if t.enters(m, r) {
			return
		}
	case t.s.anonymous && m.Pos > 0 && (m.Op.IsRead() || m.Op.IsWrite()):
		t.s.knows(m, r.place)
	}
	t.replied(m, r)
}

// replied follows the answer to a request.
func (t *tap) replied(m *drivers.Message, r request) {
	t.s.probe.Message(t.bounded(t.goesOn(*m, r)))
	switch {
	case m.Op == drivers.OpClose && t.s.anonymous && m.Err == nil:
		t.revoked(r.lease, m.Pos)
	case m.Op == drivers.OpClose && !t.s.anonymous:
		t.s.closed(t.a, m.Pos)
	}
	if r.inserts {
		m = inserted(m)
	}
	for p := range parts(m) {
		if !m.Op.IsWrite() || p.Op.IsWrite() { // a read of what the transaction wrote polls nothing
			t.answered(p, t.a.requestPlace(p), &r)
		}
	}
	if len(m.Parts) == 0 {
		t.answered(m, r.place, &r)
	}
}

// inserts reports whether a put with a lease creates a key that stands in a line: etcd's clients name it by the lease. The
// next put of the key sets it.
func (s *session) inserts(mode drivers.Mode, p *place) bool {
	return mode&drivers.Sequential != 0 && s.children[p.path] == nil
}

// inserted returns a put as the creation of a key in a line.
func inserted(m *drivers.Message) *drivers.Message {
	c := *m
	c.Op = drivers.OpCreate
	return &c
}

// answered follows the answer to one operation at a place. The path that was created may differ
// from the requested one.
func (t *tap) answered(m *drivers.Message, p *place, r *request) {
	if m.Op == drivers.OpCreate && m.Err == nil && len(m.Path) > 0 {
		p = t.a.place(m.Path)
	}
	if p != nil {
		t.s.answered(t.a, m, p, r)
	}
}

// parts yields the operations of a transaction, each as if it had been sent alone.
func parts(m *drivers.Message) iter.Seq[*drivers.Message] {
	return func(yield func(*drivers.Message) bool) {
		for _, p := range m.Parts {
			one := drivers.Message{Kind: m.Kind, Pos: m.Pos, Digest: m.Digest, Path: p.Path, Op: p.Op, Mode: p.Mode,
				Err: p.Err}
			if !yield(&one) {
				return
			}
		}
	}
}

// maxGaveUp is how many watches a tap keeps of which it is not known yet whether its client goes on without them.
const maxGaveUp = 1 << 10

// givesUp records the end of a lasting watch. The client has given it up if its connection goes on.
func (t *tap) givesUp(m *drivers.Message) {
	if told := t.s.watches[endedKey(m)].fired[m.Number]; told != nil && len(t.gaveUp) < maxGaveUp {
		t.gaveUp = append(t.gaveUp, told)
	}
}

// goOn records that the client goes on without the watches that have ended, if the request is work.
func (t *tap) goOn(op drivers.Op) {
	if op == drivers.OpPing || op == drivers.OpClose {
		return
	}
	for _, told := range t.gaveUp {
		told.spend()
	}
	t.gaveUp = t.gaveUp[:0]
}

// answer removes the request that a reply answers: the first with the same operation.
func (t *tap) answer(op drivers.Op) (request, bool) {
	for i, r := range t.asked {
		if r.op == op {
			t.asked = append(t.asked[:i], t.asked[i+1:]...)
			t.a.requests--
			return r, true
		}
	}
	return request{}, false
}

func (t *tap) notification(m *drivers.Message) {
	if m.Event == 0 || len(m.Path) == 0 {
		return
	}
	t.s.notified(t.a, m, t.a.place(m.Path))
	t.s.probe.Message(*m)
}

// Close reports the end of the connection.
func (t *tap) Close(at time.Time) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	t.a.all.open--
	t.a.expire()
	if !t.out {
		t.a.followed--
	}
	for _, r := range t.asked {
		r.work.Answered(at, false)
	}
	t.a.requests -= len(t.asked)
	t.asked = nil
	t.of.Close(at)
	if t.s == nil {
		return
	}
	for _, number := range slices.Sorted(maps.Keys(t.numbered)) {
		t.confirm(t.numbered[number])
		t.part(number)
	}
	t.s.linked(-1)
	t.s.probe.Message(drivers.Message{Kind: drivers.Cut})
	t.s.disconnected(at)
	if t.s.anonymous {
		t.s.breakWatches(t.a)
	}
	waits := t.s.of.Leased() && !t.s.of.Active() // for a connection that uses a lease again
	switch {                                     // else another connection still serves it
	case t.s.connections > 0:
	case t.s.anonymous && !waits || t.s.over:
		t.a.end(t.s)
	default:
		t.s.disconnect(t.a)
	}
}

// missing reports whether the reply to an exists found no node.
func missing(m *drivers.Message) bool {
	return m.Op == drivers.OpExists && errors.Is(m.Err, drivers.ErrNoNode)
}

// armed reports whether the reply armed a watch.
func armed(m *drivers.Message) bool {
	asks := m.Op.IsWatch() || m.Watch && (m.Op.IsRead() || m.Op == drivers.OpOther)
	return asks && (m.Err == nil || missing(m))
}

// Gap reports bytes that were not decoded, and why.
func (t *tap) Gap(at time.Time, bytes int64, cause traffic.Cause) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	if t.s != nil {
		t.s.loseSight(t.a, cause)
	}
	t.missed(traffic.Undecoded{Cause: cause, Bytes: bytes})
}

// Members reports that the client has learned addresses that are not observed. It may use them: what it
// would do there is missing, however little it is.
func (t *tap) Members(at time.Time, addresses []string) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	t.missed(traffic.Undecoded{Cause: traffic.Bypass, Names: addresses})
}

// missed adds to what was not decoded. The connection counts once for each cause.
func (t *tap) missed(u traffic.Undecoded) {
	if !slices.Contains(t.causes, u.Cause) {
		t.causes = append(t.causes, u.Cause)
		u.Connections = 1
	}
	t.a.all.coverage.Add(u)
}

// Missed reports traffic that was not decoded and that no tap reports.
func (a *Analysis) Missed(u traffic.Undecoded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all.coverage.Add(u)
}
