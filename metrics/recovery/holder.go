package recovery

import (
	"net"
	"regexp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// An originKey names an origin: a process, or an address without a port if the process is not known.
type originKey struct {
	process traffic.Process
	address string
}

// An origin has the connections of one process, or those of one address whose processes are not known, or not yet.
type origin struct {
	originKey
	hosts   []string // of its connections
	holders map[*holder]bool
	client  *holder   // of all connections, if sessions have no number
	first   time.Time // its first connection
	open    int       // connections
	tried   time.Time // its latest connection
	left    time.Time // when its latest connection ended
	gap     time.Time // the latest loss of traffic
	failed  map[string]bool
}

// fail records that a request has failed or was not answered.
func (o *origin) fail(r *request) {
	if r.op.IsRead() || r.op.IsWrite() || r.op.IsWatch() || r.op == drivers.OpOpen {
		if len(o.failed) < maxFailed {
			o.failed[r.like] = true
		}
	}
}

// neighbours returns the origin and those that may be of the same client: of the same host, if the process of one is not known.
// A process is found some time after a connection has begun, and that of a short one may never be.
func (a *Analysis) neighbours(o *origin) (all []*origin) {
	for _, host := range o.hosts {
		for _, other := range a.hosts[host] {
			unknown := o.process == traffic.Process{} || other.process == traffic.Process{}
			if (other == o || unknown) && !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// locate says of which process or address the connection is, by what is known now.
func (t *tap) locate() {
	if t.origin != nil && t.origin.process == t.process {
		return
	}
	host, _, err := net.SplitHostPort(t.c.Client)
	if err != nil {
		host = t.c.Client
	}
	key := originKey{process: t.process}
	if t.process == (traffic.Process{}) {
		key.address = host
	}
	o := t.a.origins[key]
	if o == nil {
		o = &origin{originKey: key, first: t.a.at, holders: map[*holder]bool{}, failed: map[string]bool{}}
		t.a.origins[key] = o
	}
	if !slices.Contains(o.hosts, host) {
		o.hosts = append(o.hosts, host)
		t.a.hosts[host] = append(t.a.hosts[host], o)
	}
	if was := t.origin; was != nil {
		if t.a.taps[t] {
			was.open--
			o.open++
		}
		o.tried, o.left = latest(o.tried, was.tried), latest(o.left, was.left)
		if t.h != nil && t.h.origin == was {
			delete(was.holders, t.h)
			t.h.origin, o.holders[t.h] = o, true
		}
	}
	t.origin = o
}

// A thing is an ephemeral node, or a watch of a kind. A client of etcd may have several watches of a kind on a path:
// each is a thing of its own.
type thing struct {
	watch, path string
	ordinal     int // among those, from 0
}

// A standing thing is one that a session has.
type standing struct {
	tap        *tap  // that armed the watch
	number     int   // of the watch on its connection, see drivers.Message
	lease      int64 // that the node is bound to
	sequential bool
	revision   int64 // of etcd, from which the watch was armed; 0 for the current one
	exists     bool  // the watch was armed without a read of the value
}

// A begin is when a session first had a thing after it began, or after the latest fault that hit it.
type begin struct {
	at       time.Time
	fold     string
	revision int64 // see standing
}

// A holder is what has nodes and watches: a session, or a client of etcd.
type holder struct {
	a       *Analysis
	serial  int // in the order in which they became known
	id      int64
	origin  *origin
	client  string    // address of its latest connection
	opened  time.Time // zero if it is older than the connection by which it became known
	timeout time.Duration
	open    int       // connections
	tap     *tap      // the latest connection
	left    time.Time // when the latest connection ended
	closed  time.Time // by the client; zero if it is not
	granted time.Time // the latest lease

	has    map[thing]standing
	untold map[thing]untold  // watches that are neither, for the client
	counts map[string]*count // its nodes, by pattern

	// Since the latest fault that hit it.
	row    *row    // nil if none did
	owed   []*item // what it had to have back then; the next fault is judged by it
	begun  map[thing]begin
	folds  map[thing]int // number of begun, by pattern
	beyond bool          // not all are kept
	looks  map[look]looked
	saw    map[sight]time.Time // when first
}

// newHolder returns a holder of a connection, nil if there are too many.
func (a *Analysis) newHolder(t *tap, id int64) *holder {
	if len(a.holders) >= a.sweepAt {
		a.sweep()
	}
	if len(a.holders) >= a.limits.holders {
		a.full = true
		return nil
	}
	a.serials++
	h := &holder{a: a, serial: a.serials, id: id, origin: t.origin, has: map[thing]standing{}, untold: map[thing]untold{}, counts: map[string]*count{}}
	h.renew()
	if !t.c.Joined {
		h.opened = a.at
	}
	a.holders = append(a.holders, h)
	h.origin.holders[h] = true
	return h
}

// session returns the holder of a numbered session.
func (a *Analysis) session(t *tap, s traffic.Session) *holder {
	h := a.numbered[s.ID]
	if h == nil || !s.Resumed {
		if h = a.newHolder(t, s.ID); h == nil {
			return nil
		}
		if s.Resumed {
			h.opened = time.Time{}
		}
		a.numbered[s.ID] = h
	}
	h.timeout, h.closed = s.Timeout, time.Time{}
	return h
}

// ofProcess returns the holder of the connections of a process.
func (a *Analysis) ofProcess(t *tap) *holder {
	if t.origin.client == nil || !t.origin.holders[t.origin.client] {
		t.origin.client = a.newHolder(t, 0)
	}
	return t.origin.client
}

// uses has the connections that use a lease be one client.
func (a *Analysis) uses(t *tap, lease int64) {
	switch known := a.numbered[lease]; {
	case lease == 0:
	case known != nil && known != t.h && (t.process == (traffic.Process{}) || t.h == nil):
		t.attach(known)
	case known != nil && known != t.h && known.origin.process == (traffic.Process{}) && t.h.row == nil:
		known.absorb(t.h)
	case known == nil && (t.h != nil || t.attach(a.newHolder(t, 0))):
		a.numbered[lease] = t.h
	}
}

// absorb makes another holder a part of this one: the lease of an earlier connection, whose process was not known, tells
// that they are of one process.
func (h *holder) absorb(o *holder) {
	a := h.a
	delete(h.origin.holders, h)
	delete(o.origin.holders, o)
	h.origin, o.origin.client, o.origin.holders[h] = o.origin, h, true
	a.holders = slices.DeleteFunc(a.holders, func(x *holder) bool { return x == o })
	for w, s := range o.has {
		delete(o.has, w)
		a.things--
		if w.watch == "" {
			h.register(w.path, s.sequential, s.lease)
		} else {
			h.begin(w, s)
		}
	}
	for lease, of := range a.numbered {
		if of == o {
			a.numbered[lease] = h
		}
	}
	for t := range a.taps {
		if t.h == o {
			t.h = nil
			t.attach(h)
		}
	}
}

// granted records a lease of the client.
func (t *tap) granted(s traffic.Session) {
	if t.h == nil && !t.attach(t.a.newHolder(t, 0)) {
		return
	}
	t.h.granted, t.h.timeout = t.a.at, s.Timeout
	t.a.numbered[s.ID] = t.h
}

// attach says whose connection it is, and returns false if that is not followed.
func (t *tap) attach(h *holder) bool {
	if h == nil || h == t.h {
		return h != nil
	}
	if t.h != nil {
		t.a.detach(t)
	}
	if !t.a.byProcess && h.open > 0 {
		h.breaks(nil) // the service has moved the session
	}
	t.h, h.tap, h.client = h, t, t.c.Client
	h.open++
	if !t.a.byProcess {
		t.heard = t.a.at
	}
	if h.row != nil && !h.row.fault.precedes(t.c.At) {
		h.row.standing++
	}
	t.resumes()
	return true
}

// answers records that the service has answered on the connection.
func (t *tap) answers() {
	if t.heard.IsZero() {
		t.heard = t.a.at
		t.resumes()
	}
}

// resumes records that a connection has taken the place of those that a fault has broken, once the service has answered on
// it: a server that ends may still accept connections. A session is only known by the answer.
func (t *tap) resumes() {
	if t.h == nil || t.heard.IsZero() {
		return
	}
	if r := t.h.row; r != nil && r.attached.IsZero() && (!t.a.byProcess || r.fault.precedes(t.c.At)) {
		r.attached = t.heard
	}
}

// detach records that a connection serves its holder no more. It may have another one already.
func (a *Analysis) detach(t *tap) {
	h := t.h
	h.open--
	h.left = a.at
	if h.row != nil && !h.row.fault.precedes(t.c.At) {
		h.row.standing--
		h.row.stood = a.at
	}
	if t.closing {
		h.closed = a.at
		clear(h.untold)
		return
	}
	h.breaks(t)
	t.stops()
}

// breaks ends the watches of a connection that has ended, of all if it is nil.
func (h *holder) breaks(t *tap) {
	at := h.a.at
	if t == nil && h.row != nil { // when it broke is not known: after its latest message
		at = latest(h.tap.last, h.row.fault.At)
	}
	if r := h.row; r.breaks() && r.left.IsZero() && (t == nil || !h.a.byProcess || !r.fault.precedes(t.c.At)) {
		r.left = at
	}
	for w, s := range h.has {
		if w.watch == "" || t != nil && s.tap != t {
			continue
		}
		h.end(w)
		if r := h.row; r.breaks() && r.broke[w].IsZero() {
			r.broke[w] = at
		}
	}
	h.misses(t)
}

// set returns the watches that a packet sets again, as the client believes to have them.
func (t *tap) set(parts []drivers.TxnOp) map[thing]standing {
	all := map[thing]standing{}
	for _, p := range parts {
		w := thing{watch: watchOf(&drivers.Message{Op: p.Op}), path: string(p.Path)}
		s, before := all[w]
		all[w] = standing{tap: t, exists: p.Op == drivers.OpExists && (s.exists || !before)}
	}
	return all
}

// rearm arms the watches of the earliest packet that sets watches again, when the client receives its answer.
func (t *tap) rearm(failed error) {
	if len(t.sets) == 0 {
		return
	}
	all := t.sets[0]
	t.sets = t.sets[1:]
	for w, s := range all {
		if failed != nil {
			break
		}
		t.h.begin(w, s)
		if _, fired := t.h.untold[w]; fired {
			t.h.end(w)
		}
	}
}

// fires reports whether a watch fires that a packet has set again, before the packet is answered.
func (t *tap) fires(w thing) bool {
	return slices.ContainsFunc(t.sets, func(set map[thing]standing) bool { _, is := set[w]; return is })
}

// fire counts such a watch as armed, and as fired.
func (t *tap) fire(w thing) {
	for _, set := range t.sets {
		if s, is := set[w]; is {
			t.h.begin(w, s)
			t.h.end(w)
			delete(set, w)
		}
	}
}

// begin records that the holder has a thing: a watch of etcd is another one than those that it has.
func (h *holder) begin(w thing, s standing) {
	if s.number > 0 {
		w.ordinal = h.spare(w)
		s.tap.numbers[s.number] = w
	}
	if w.watch != "" {
		h.a.count(rearms, 1)
	}
	if before, has := h.has[w]; has {
		s.exists = s.exists && before.exists
	} else {
		if h.a.things >= h.a.limits.things {
			h.beyond = true
			return
		}
		h.a.things++
	}
	h.has[w] = s
	if _, known := h.begun[w]; known {
		return
	}
	b := begin{h.a.at, pathname.Fold(w.path), s.revision}
	if f := (thing{w.watch, b.fold, 0}); h.folds[f] < h.a.limits.begun && len(h.folds) < h.a.limits.begun {
		h.folds[f]++
		h.begun[w] = b
	} else {
		h.beyond = true
	}
}

// spare returns the first ordinal that none of the holder's watches of a kind on a path has.
func (h *holder) spare(w thing) int {
	for w.ordinal = 0; w.ordinal < h.a.limits.begun; w.ordinal++ {
		if _, has := h.has[w]; !has {
			break
		}
	}
	return w.ordinal
}

// end records that the holder has a thing no more.
func (h *holder) end(w thing) {
	s, has := h.has[w]
	if !has {
		return
	}
	if delete(h.has, w); s.number > 0 {
		delete(s.tap.numbers, s.number)
	}
	h.a.things--
	if w.watch == "" {
		h.counts[pathname.Fold(w.path)].add(h.a.at, -1)
	}
}

// register records that the holder has created a node.
func (h *holder) register(path string, sequential bool, lease int64) {
	a, node := h.a, thing{path: path}
	if s, has := h.has[node]; has && s.lease == lease && lease != 0 {
		return // written again
	}
	fold := pathname.Fold(path)
	if sequential && len(a.lines) < a.limits.begun {
		a.lines[fold] = true
	}
	if o := a.owners[path]; o != nil {
		o.end(node)
	}
	h.begin(node, standing{lease: lease, sequential: sequential})
	if _, has := h.has[node]; !has {
		return
	}
	a.owners[path] = h
	if h.counts[fold] == nil {
		h.counts[fold] = &count{at: a.at}
	}
	h.counts[fold].add(a.at, 1)
	for _, w := range a.wanted[path] {
		if w.watch == "" && w.taken.IsZero() {
			w.taken, w.by = a.at, h
		}
	}
}

// revoked records that a lease was revoked, and with it what is bound to it.
func (h *holder) revoked(lease int64) {
	for w, s := range h.has {
		if w.watch == "" && (lease == 0 || s.lease == lease) {
			h.end(w)
			delete(h.a.owners, w.path)
		}
	}
}

// fired records a notification, which ends the watches that it comes from unless they last. One that a packet has set
// again may fire before the packet is answered.
func (t *tap) fired(m *drivers.Message) {
	h := t.h
	for _, kind := range []string{onData, onChildren} {
		if kind == onData && m.Event == drivers.ChildrenChanged || kind == onChildren && m.Event != drivers.ChildrenChanged && m.Event != drivers.Deleted {
			continue
		}
		w := thing{watch: kind, path: string(m.Path)}
		if t.behind {
			t.leaves(w)
		} else {
			t.fire(w)
		}
		h.end(w)
	}
}

// unwatch records that the client has ended watches on a path, or the one with a number.
func (t *tap) unwatch(m *drivers.Message) {
	if m.Number > 0 {
		t.coming = slices.DeleteFunc(t.coming, func(c coming) bool { return c.number == m.Number })
		if w, has := t.numbers[m.Number]; has {
			t.h.end(w)
			t.remember(w)
		}
		return
	}
	for i, kind := range []string{onData, onChildren, persistent, recursive} { // in the order of their bits
		if m.Removes.Has(drivers.DataWatch << i) {
			t.h.end(thing{watch: kind, path: string(m.Path)})
		}
	}
}

// A parted watch of etcd is one that its client has ended.
type parted struct {
	thing
	at time.Time
}

// remember keeps the end of a watch for a while: a client that stops ends its watches before its connection.
func (t *tap) remember(w thing) {
	now := t.a.at
	for len(t.ended) > 0 && now.Sub(t.ended[0].at) > lateness {
		t.ended = t.ended[1:]
	}
	t.ended = append(t.ended, parted{w, now})
}

// stops has the watches that the client ended just before its connection end with that.
func (t *tap) stops() {
	for _, w := range t.ended {
		if r := t.h.row; r.breaks() && r.fault.precedes(w.at) && t.a.at.Sub(w.at) <= lateness && r.broke[w.thing].IsZero() {
			r.broke[w.thing] = w.at
		}
	}
}

// renew begins the time after a fault.
func (h *holder) renew() {
	h.begun, h.folds, h.beyond, h.looks = map[thing]begin{}, map[thing]int{}, false, map[look]looked{}
	for _, c := range h.counts {
		c.renew(h.a.at)
	}
}

// forgotten is how long after its end a session is kept that no fault has hit.
const forgotten = time.Minute

// sweep forgets sessions that have ended, unless they may replace one that a fault has hit.
func (a *Analysis) sweep() {
	kept := a.holders[:0]
	for _, h := range a.holders {
		over := h.open == 0 && a.at.Sub(h.left) > max(h.timeout, forgotten)
		if !over || h.row != nil && !h.row.settled || len(h.begun) > 0 && a.awaits(h) {
			kept = append(kept, h)
			continue
		}
		a.things -= len(h.has)
		for w := range h.has {
			if a.owners[w.path] == h {
				delete(a.owners, w.path)
			}
		}
		if a.numbered[h.id] == h {
			delete(a.numbered, h.id)
		}
		delete(h.origin.holders, h)
	}
	clear(a.holders[len(kept):])
	a.holders = kept
	for id, h := range a.numbered { // leases
		if !h.origin.holders[h] {
			delete(a.numbered, id)
		}
	}
	for key, o := range a.origins {
		if o.open == 0 && len(o.holders) == 0 && a.at.Sub(o.left) > forgotten {
			delete(a.origins, key)
			for _, host := range o.hosts {
				same := func(x *origin) bool { return x == o }
				if a.hosts[host] = slices.DeleteFunc(a.hosts[host], same); len(a.hosts[host]) == 0 {
					delete(a.hosts, host)
				}
			}
		}
	}
	a.sweepAt = min(2*len(kept)+64, a.limits.holders)
}

// awaits reports whether the holder may replace a session that a fault has hit.
func (a *Analysis) awaits(h *holder) bool {
	for _, o := range a.outcomes {
		if o.until.IsZero() && o.precedes(h.opened) {
			return true
		}
	}
	return false
}

// lineMember matches the name that ZooKeeper gives to a sequential node.
var lineMember = regexp.MustCompile(`[0-9]{10}$`)

// inLine reports whether the path is that of a sequential node.
func (a *Analysis) inLine(path, fold string) bool {
	return a.lines[fold] || lineMember.MatchString(path)
}

// enough is how long a node must stand beside the others to be one too many.
const enough = time.Second

// A count is how many nodes of a pattern a session has at once.
type count struct {
	now, most int
	at        time.Time
	spent     map[int]time.Duration // by the number of nodes
}

func (c *count) add(at time.Time, n int) {
	if c == nil {
		return
	}
	c.pass(at)
	c.now += n
	c.most = max(c.most, c.now)
}

func (c *count) pass(at time.Time) {
	if c.spent == nil {
		c.spent = map[int]time.Duration{}
	}
	c.spent[c.now] += at.Sub(c.at)
	c.at = at
}

func (c *count) renew(at time.Time) { *c = count{now: c.now, most: c.now, at: at} }

// excess returns by how many nodes the count was above a limit for long, or is now.
func (c *count) excess(limit int) int {
	for n := c.most; n > limit; n-- {
		var spent time.Duration
		for m, d := range c.spent {
			if m >= n {
				spent += d
			}
		}
		if spent >= enough || c.now >= n {
			return n - limit
		}
	}
	return 0
}

func latest(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}
