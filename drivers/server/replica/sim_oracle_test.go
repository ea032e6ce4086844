package replica

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// An oracle holds what all members together must do, and what the clients saw.
type oracle struct {
	w        *world
	counter  uint32 // the last counter of a zxid
	log      map[uint64]*applied
	last     uint64 // the highest index in it
	model    *State // what the entries in their order lead to
	zxid     int64
	replaced bool // a disk was replaced
	raised   bool // a leader has proposed to bring a newer version into force
	off      bool // checks nothing
	opening  map[int64]*simClient
	closed   map[int64]time.Duration // sessions that ended
	expired  map[int64]bool          // those among them whose time-out passed
	firsts   []*applied              // in the order of their indexes and times
	values   map[string]*applied     // writes that were applied
	heard    map[int64]time.Duration // when a node last heard of a session's client
	moved    map[int64]time.Duration // when a session got its last owner
	history  map[string][]*operation
}

// applied is an entry that a member has applied.
type applied struct {
	index, term uint64
	data        []byte
	digest      uint64
	version     byte // in force
	zxid        int64
	err         wire.Err
	at          time.Duration // when the first member applied it
}

// An operation is one of a client on a node that is checked for linearizability.
type operation struct {
	client          int
	called, return_ int64
	op              int
	value           string
	err             wire.Err
	version         int32
	known           bool
}

func newOracle(w *world) *oracle {
	o := &oracle{w: w, counter: 1<<32 - 1, log: map[uint64]*applied{}, model: NewState(), opening: map[int64]*simClient{},
		closed: map[int64]time.Duration{}, expired: map[int64]bool{}, values: map[string]*applied{}, heard: map[int64]time.Duration{}, moved: map[int64]time.Duration{}, history: map[string][]*operation{}}
	if w.chance(0.3) {
		o.counter = 30 + w.r.Uint32N(100)
	}
	o.model.counter, o.model.program = o.counter, newer
	return o
}

// applied checks an entry that a node has applied.
func (o *oracle) applied(n *simNode, a *Applied) {
	if o.off {
		return
	}
	s := n.m.state
	got := &applied{index: s.index, term: s.term, digest: s.Digest(), version: s.version, zxid: a.Result.Zxid, err: errorOf(&a.Result), at: o.w.now}
	entries, err := n.disk.Entries(s.index, s.index+1, 1<<30)
	if err != nil {
		o.w.fail("node %d applied entry %d, which is not on its disk: %v", n.id, s.index, err)
	}
	got.data = entries[0].GetData()
	if was := o.log[s.index]; was != nil {
		if was.term != got.term || !bytes.Equal(was.data, got.data) || was.zxid != got.zxid || was.err != got.err || was.digest != got.digest {
			o.w.fail("node %d applied entry %d otherwise than another: zxid %x, %x, digest %x, %x", n.id, s.index, got.zxid, was.zxid, got.digest, was.digest)
		}
		return
	}
	if s.index <= o.last {
		o.w.fail("node %d applied entry %d, which had no effect elsewhere", n.id, s.index)
	}
	o.last = s.index
	o.log[s.index] = got
	o.firsts = append(o.firsts, got)
	o.first(n, a, got)
}

func errorOf(r *tree.Result) wire.Err {
	for _, x := range r.Ops {
		if x.Err != wire.OK {
			return x.Err
		}
	}
	return r.Err
}

// first checks an entry that no node has applied before.
func (o *oracle) first(n *simNode, a *Applied, got *applied) {
	e, err := newer.decode(got.data)
	if err != nil {
		o.w.fail("node %d: %v", n.id, err)
	}
	o.durable(got.index, got.term)
	if e.Kind != Move {
		want := o.zxid + 1
		if int64(got.term) > o.zxid>>32 {
			want = int64(got.term)<<32 + 1
		}
		if got.zxid != want || uint32(got.zxid) > o.counter {
			o.w.fail("node %d: entry %d of term %d has zxid %x, want %x", n.id, got.index, got.term, got.zxid, want)
		}
		o.zxid = got.zxid
	}
	o.rightOwner(&e, got)
	o.sessions(n, &e, got)
	if value := string(valueOf(&e.Txn)); e.Kind == Request && value != "" {
		if o.values[value] != nil {
			o.w.fail("write %s was applied twice", value)
		}
		o.values[value] = got
	}
	o.follow(&e, got)
}

func valueOf(x *tree.Txn) []byte {
	if x.Kind == tree.Multi {
		return x.Ops[len(x.Ops)-1].Data
	}
	return x.Data
}

// durable checks that a majority has an entry on disk.
func (o *oracle) durable(index, term uint64) {
	holders := 0
	for _, n := range o.w.nodes {
		if n.disk.holds(index, term) {
			holders++
		}
	}
	if holders <= len(o.w.nodes)/2 && !o.replaced {
		o.w.fail("entry %d is applied and on %d disks only", index, holders)
	}
}

// rightOwner checks that no request of a former owner of a session is applied.
func (o *oracle) rightOwner(e *entry, got *applied) {
	owner, ok := o.model.owners[e.Session]
	if e.Kind == Request && got.err != wire.ErrSessionMoved && got.err != wire.ErrSessionExpired &&
		(!ok || owner.Member != e.Origin || owner.Generation != e.Generation) {
		o.w.fail("entry %d: a request of member %d and generation %d was applied, and the owner is %+v", got.index, e.Origin, e.Generation, owner)
	}
}

// slack allows for clocks that run faster than others.
const slack = simTimeout * time.Millisecond * 8 / 10

// oldest is the most that a read of a member which serves may lag behind, by the slowest clock.
const oldest = MaxAge * 115 / 100

// sessions checks the beginning and the end of sessions.
func (o *oracle) sessions(n *simNode, e *entry, got *applied) {
	_, open := o.model.owners[e.Session]
	switch {
	case e.Kind == Open, e.Kind == Move:
		if _, closed := o.closed[e.Session]; closed && got.err == wire.OK {
			o.w.fail("session %x goes on after its end", e.Session)
		}
		if got.err == wire.OK {
			o.moved[e.Session] = o.w.now
		}
	case e.Kind == Expire:
		if !open || got.err != wire.OK {
			o.w.fail("session %x expired after its end", e.Session)
		}
		o.closed[e.Session], o.expired[e.Session] = o.w.now, true
		o.mayExpire(e)
		o.inTime(e.Session)
	case e.Txn.Kind == tree.CloseSession && got.err == wire.OK:
		o.closed[e.Session] = o.w.now
	}
}

// mayExpire checks that nobody could be heard of for the session's whole time-out.
func (o *oracle) mayExpire(e *entry) {
	w := o.w
	if w.now-o.moved[e.Session] < slack {
		w.fail("session %x expired %v after it moved", e.Session, w.now-o.moved[e.Session])
	}
	if by := w.nodes[e.Origin-1]; by.m != nil && by.m.leads() && by.m.term == e.Term && w.now-by.leading < slack {
		w.fail("session %x expired %v after member %d became the leader", e.Session, w.now-by.leading, e.Origin)
	}
	c := o.opening[e.Session]
	if w.calm != never && w.now-w.calm > 2*simTimeout*time.Millisecond && c.session == e.Session && c.ready && w.now-c.connected > simTimeout*time.Millisecond {
		w.fail("session %x expired, and its client sends heartbeats", e.Session)
	}
}

// latest is the most that may pass between the last sign of a client, or the end of what delays that, and the end of its session.
const latest = simTimeout*time.Millisecond*13/10 + 2*time.Second

// inTime checks that a session whose client is gone does not live on.
func (o *oracle) inTime(session int64) {
	w := o.w
	if w.calm == never {
		return
	}
	since := max(w.calm+settling, o.heard[session], o.moved[session])
	if leader := w.leader(); leader != nil {
		since = max(since, leader.leading)
	}
	if w.now-since > latest {
		w.fail("session %x lives on for %v without its client", session, w.now-since)
	}
}

// severs checks that a node has a reason to end the connection of a client: there are no faults, or only those of another node.
func (o *oracle) severs(x *simConn, why string) {
	w := o.w
	calm := w.calm != never && w.now-w.calm > settling
	if (calm || w.sick != nil && w.sick != x.node) && !o.off && x.client.conn == x && !x.closing {
		w.fail("node %d ends the connection of client %d without a fault: %s", x.node.id, x.client.name, why)
	}
}

// follow applies an entry to the model.
func (o *oracle) follow(e *entry, got *applied) {
	for o.model.index+1 < got.index {
		o.followQuiet(o.model.index + 1)
	}
	x := *e
	a, effective := o.model.apply(got.index, got.term, &x)
	if effective && (o.model.Digest() != got.digest || o.model.version != got.version) {
		o.w.fail("entry %d: digest %x in version %d, and the model's is %x in version %d", got.index, got.digest, got.version, o.model.Digest(), o.model.version)
	}
	if !effective || a.Result.Zxid != got.zxid || errorOf(&a.Result) != got.err {
		o.w.fail("entry %d: a member has zxid %x and error %d, and the model %x and %d, effective %v", got.index, got.zxid, got.err, a.Result.Zxid, errorOf(&a.Result), effective)
	}
}

// followQuiet applies an entry that members do not report.
func (o *oracle) followQuiet(index uint64) {
	for _, n := range o.w.nodes {
		x := n.disk.history[index]
		if n.m == nil || n.m.state.index < index || x == nil {
			continue
		}
		o.model.index, o.model.term = index, x.GetTerm()
		if len(x.GetData()) > 0 {
			e, err := newer.decode(x.GetData())
			if err != nil {
				o.w.fail("entry %d: %v", index, err)
			}
			if _, effective := o.model.apply(index, x.GetTerm(), &e); effective && e.Kind != Register && e.Kind != Compare && e.Kind != Withdrawn {
				o.w.fail("entry %d should have an effect on members", index)
			}
		}
		return
	}
	o.w.fail("entry %d is nowhere", index)
}

// followTo applies the entries that a node has applied without a report, while it still knows them.
func (o *oracle) followTo(n *simNode) {
	for !o.off && o.model.index < n.m.state.index && n.disk.history[o.model.index+1] != nil {
		o.followQuiet(o.model.index + 1)
	}
}

// served checks that a node may give the answer to a read or a heartbeat.
func (o *oracle) served(x *simConn, p *simReply) {
	n := x.node
	if o.off {
		return
	}
	if !n.m.Serving() {
		o.w.fail("node %d answers a read after it lost its majority", n.id)
	}
	o.fresh(n)
	if end, ended := o.closed[x.session]; ended && !x.closing {
		o.alone(x, p)
		if o.expired[x.session] || o.w.now-end > simTimeout*time.Millisecond {
			o.w.fail("node %d serves session %x, which ended %v ago", n.id, x.session, o.w.now-end)
		}
	}
	if p.zxid > o.zxid {
		o.w.fail("node %d shows zxid %x, which is not committed", n.id, p.zxid)
	}
}

// alone checks that a client whose session has ended does not see its lock while another one has it.
func (o *oracle) alone(x *simConn, p *simReply) {
	path := p.request.path
	now := o.model.tree.Find(path)
	if p.request.op != opGet || p.stat.EphemeralOwner != x.session || now == nil {
		return
	}
	if owner := now.Stat().EphemeralOwner; owner != x.session {
		o.w.fail("%s has two holders: node %d shows it to session %x, and %x has it", path, x.node.id, x.session, owner)
	}
}

// fresh checks that a node which serves has applied what another one had applied a while before.
func (o *oracle) fresh(n *simNode) {
	earlier := func(a *applied, t time.Duration) int { return cmp.Compare(a.at, t) }
	old, _ := slices.BinarySearchFunc(o.firsts, o.w.now-oldest, earlier)
	if old == 0 {
		return
	}
	if was := o.firsts[old-1]; n.m.state.index < was.index {
		o.w.fail("node %d serves what was so %v ago: it has applied entry %d, and %d was applied",
			n.id, o.w.now-was.at, n.m.state.index, was.index)
	}
}

// ended is called when a client is told that its session has ended.
func (o *oracle) ended(c *simClient) {
	if _, ok := o.closed[c.session]; !ok && !o.off {
		o.w.fail("client %d: session %x has not expired", c.name, c.session)
	}
}

// called notes an operation whose effects are checked.
func (o *oracle) called(c *simClient, x *simCall) *operation {
	if !strings.HasPrefix(x.path, "/r") || x.op == opGet && x.sync == never {
		return nil
	}
	op := &operation{client: c.name, called: int64(x.at), return_: int64(never), op: x.op, value: x.value}
	if x.op == opGet {
		op.called = int64(x.sync)
	}
	o.history[x.path] = append(o.history[x.path], op)
	return op
}

// returned checks an answer.
func (o *oracle) returned(c *simClient, x *simCall, p *simReply) {
	if op := x.entry; op != nil {
		op.known, op.return_, op.err, op.version = true, int64(o.w.now), p.err, p.stat.Version
		if x.op == opGet {
			op.value = p.data
		}
	}
	if x.value == "" || o.off {
		return
	}
	was := o.values[x.value]
	if was == nil || was.err != p.err || was.zxid != p.zxid {
		o.w.fail("client %d: write %s is answered with zxid %x and error %d, and was not applied so: %+v", c.name, x.value, p.zxid, p.err, was)
	}
}

// unanswered notes that an operation will never be answered.
func (o *oracle) unanswered(x *simCall) {
	if x.entry != nil && x.op == opGet {
		x.entry.op = opPing // no effect and no answer: leave it out
	}
}

// settled checks the end.
func (o *oracle) settled() {
	for end := o.w.nodes[0].m.state.index; o.model.index < end; {
		o.followQuiet(o.model.index + 1)
	}
	for _, n := range o.w.nodes {
		if n.m == nil || n.m.state.Digest() != o.model.Digest() {
			o.w.fail("node %d: digest %x, and the model's is %x", n.id, n.m.state.Digest(), o.model.Digest())
		}
	}
	for session := range o.model.owners {
		if o.opening[session].session != session {
			o.inTime(session)
		}
	}
	for path := range o.history {
		o.linearizable(path)
	}
}

// register is a node that clients write.
type register struct {
	exists  bool
	version int32
	value   string
}

func (o *oracle) linearizable(path string) {
	var ops []porcupine.Operation
	for _, x := range o.history[path] {
		was := o.values[x.value]
		if x.op == opPing || x.err == wire.ErrSessionExpired || !x.known && (was == nil || was.err != wire.OK) {
			continue // without an effect
		}
		if !x.known { // it took effect when it was applied
			x.return_ = int64(was.at)
		}
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: x, Call: x.called, Return: x.return_})
	}
	model := porcupine.Model{
		Init:  func() any { return register{} },
		Step:  func(s, in, _ any) (bool, any) { return s.(register).step(in.(*operation)) },
		Equal: func(a, b any) bool { return a == b },
	}
	switch porcupine.CheckOperationsTimeout(model, ops, 10*time.Second) {
	case porcupine.Illegal:
		o.w.fail("%s: no order of the operations explains the answers", path)
	case porcupine.Unknown:
		o.w.fail("%s: the search for an order of %d operations took too long", path, len(ops))
	}
}

// step returns whether an operation can have its answer in the state, and the state after it.
func (s register) step(x *operation) (bool, register) {
	switch {
	case x.op == opGet && x.err == wire.ErrNoNode:
		return !s.exists, s
	case x.op == opGet:
		return s == register{true, x.version, x.value}, s
	case x.op == opCreate && !s.exists:
		return !x.known || x.err == wire.OK, register{true, 0, x.value}
	case x.op == opCreate:
		return !x.known || x.err == wire.ErrNodeExists, s
	case !s.exists:
		return !x.known || x.err == wire.ErrNoNode, s
	case x.op == opDelete:
		return !x.known || x.err == wire.OK, register{}
	default: // a set; the answer to a multi does not have the version here
		s = register{true, s.version + 1, x.value}
		return !x.known || x.err == wire.OK && (x.op == opMulti || x.version == s.version), s
	}
}
