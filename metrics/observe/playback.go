package observe

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A watch of etcd may ask for changes from an earlier revision on. The service then plays back what was written before the
// watch stood. That wakes nobody who was not waiting: it is history, as what a read returns. A client was waiting if it asks
// from the revision of an answer, or if it had an answer about what it watches, from the revision of that on, or if it
// goes on from where an earlier watch on the same path ended, maybe by a connection that broke.

// A numberedWatch is what a connection knows of one of its watches that have numbers, until that ends.
type numberedWatch struct {
	playback
	held *held // its confirmation, which the service may take back; nil once it is known to stand
}

// A playback is what a watch with a number reports.
type playback struct {
	key     watchKey
	history int64 // position up to which it plays back what nobody waited for
	stood   int64 // position at which the service confirmed it
	last    int64 // position of what it has told last
}

// An answered is an answer that showed a client the state at a position.
type answered struct {
	place *place // nil for a transaction, which may show any
	list  bool   // of what is below the place
	wrote bool
	pos   int64
}

// These are how many answers are kept for each client, and how many watches that have ended.
const (
	maxAnswered = 64
	maxParted   = 1 << 12
)

// knows keeps an answer to the client.
func (c *activity) knows(m *drivers.Message, p *place) {
	if len(c.answers) >= maxAnswered {
		c.answers = slices.Delete(c.answers, 0, maxAnswered/2)
	}
	c.answers = append(c.answers, answered{p, m.Op == drivers.OpChildren, m.Op.IsWrite() && m.Err == nil, m.Pos})
}

// concerns reports whether the answer shows what the watch covers.
func (k answered) concerns(w watchKey) bool {
	return k.place == nil || k.place.path == w.path || k.list && strings.HasPrefix(w.path, k.place.path)
}

// asksFrom reports whether who asks for changes from the revision on knows the state at the position.
func asksFrom(revision, pos int64) bool { return revision == pos || revision == pos+1 }

// knewBefore returns the position up to which the client knew the state of what it watches when it asks for the changes from
// the revision on. If it asks from the revision of an answer, it waits since then, whatever that was about, unless it has
// learned of the path itself later: its own write of that is no reason to wait then. If it asks from an older one, as from
// that of a key that it has read, it knew what its latest answer about the path shows.
func (c *activity) knewBefore(w watchKey, revision int64) (pos int64, known bool) {
	for _, k := range slices.Backward(c.answers) {
		about := k.concerns(w)
		if asksFrom(revision, k.pos) && (!known || about && !k.wrote) {
			return revision - 1, true
		}
		if about && !known {
			pos, known = max(k.pos, revision-1), true
		}
	}
	return pos, known
}

// maxBeside is how many sessions there may be at most for the others of a process or host to be asked what they know.
const maxBeside = 1 << 10

// besideKnew returns what the sessions of the same process, or of the same host if that is not known, knew, of those the one that knew
// least. A client may ask by one of them and watch by another. So it is for a connection that has had no answer.
func (s *session) besideKnew(a *Analysis, w watchKey, revision int64) (pos int64, known bool) {
	if len(a.byMeter) > maxBeside {
		return 0, false
	}
	for _, o := range a.byMeter {
		if o.of.Origin() != s.of.Origin() {
			continue
		}
		if p, knew := o.knewBefore(w, revision); knew && (!known || p < pos) {
			pos, known = p, true
		}
	}
	return pos, known
}

// resumes returns the position up to which an earlier watch on the same path told its client of all, if one has ended from
// which the revision goes on. Only one watch goes on from each.
func (a *Analysis) resumes(w watchKey, revision int64) (pos int64, resumed bool) {
	for i, b := range slices.Backward(a.parted) {
		if b.key == w && (asksFrom(revision, b.last) || asksFrom(revision, b.stood)) {
			a.parted = slices.Delete(a.parted, i, i+1)
			return max(b.history, revision-1), true
		}
	}
	return 0, false
}

// enters enters a watch with a number that a reply has armed. It reports whether the reply is held back: the service may still
// refuse the watch.
func (t *tap) enters(m *drivers.Message, r request) (heldBack bool) {
	if m.Number == 0 || len(t.numbered) >= t.a.limits.Watches {
		return false
	}
	n := &numberedWatch{playback: t.plays(m, r.from)}
	if t.numbered == nil {
		t.numbered = map[int]*numberedWatch{}
	}
	t.numbered[m.Number] = n
	if r.from == 0 || r.from >= m.Pos || len(t.a.held) >= t.a.limits.Requests { // a revision that is compacted is older than that of the confirmation
		return false
	}
	reply := *m
	reply.Path = bytes.Clone(m.Path)
	n.held = &held{t, reply, r, t.a.now}
	t.a.held = append(t.a.held, n.held)
	return true
}

// plays returns what a watch plays back that asks for the changes from the revision on.
func (t *tap) plays(m *drivers.Message, revision int64) playback {
	b := playback{key: watchKey{string(m.Path), m.Op == drivers.OpWatchTree, true}, stood: m.Pos, last: m.Pos}
	if revision == 0 {
		return b
	}
	b.history, b.last = m.Pos, revision-1
	pos, known := t.s.knewBefore(b.key, revision)
	if !known {
		pos, known = t.a.resumes(b.key, revision)
	}
	if !known && len(t.s.answers) == 0 {
		pos, known = t.s.besideKnew(t.a, b.key, revision)
	}
	if known {
		b.history = min(b.history, pos)
	}
	return b
}

// playsBack reports whether a notification is history. It shows that its watch stands.
func (t *tap) playsBack(m *drivers.Message) bool {
	n := t.numbered[m.Number]
	if n == nil || m.Kind != drivers.Notification {
		return false
	}
	t.confirm(n)
	n.last = max(n.last, m.Pos)
	return m.Pos <= n.history
}

// part records the end of a watch with a number: it has stood.
func (t *tap) part(number int) {
	n := t.numbered[number]
	if n == nil {
		return
	}
	delete(t.numbered, number)
	if len(t.a.parted) >= maxParted {
		t.a.parted = slices.Delete(t.a.parted, 0, maxParted/2)
	}
	t.a.parted = append(t.a.parted, n.playback)
}

// A held is the confirmation of a watch that the service may still refuse: it confirms one from an earlier revision, and ends it
// if that was compacted. The watch is not counted until it is known to stand.
type held struct {
	tap   *tap
	reply drivers.Message
	r     request
	at    time.Time
}

// refusedWithin is how soon after the confirmation a service is taken to refuse. etcd looks every tenth of a second.
const refusedWithin = time.Second

// confirm counts the watch if it is held back: it stands, or has stood. It may be nil.
func (t *tap) confirm(n *numberedWatch) {
	if n != nil && n.held != nil {
		h := n.held
		n.held = nil
		t.replied(&h.reply, h.r)
	}
}

// confirmOld counts the watches that were confirmed so long ago, and not refused since.
func (a *Analysis) confirmOld(age time.Duration) {
	for len(a.held) > 0 && a.now.Sub(a.held[0].at) > age {
		h := a.held[0]
		a.held[0], a.held = nil, a.held[1:]
		if n := h.tap.numbered[h.reply.Number]; n != nil && n.held == h {
			h.tap.confirm(n)
		}
	}
}

// refuse records that a watch is refused. It reports false if that has stood.
func (t *tap) refuse(m *drivers.Message) bool {
	n := t.numbered[m.Number]
	if n == nil || n.held == nil {
		return false
	}
	t.a.all.armed--
	delete(t.numbered, m.Number)
	n.held.reply.Err = m.Err
	t.replied(&n.held.reply, n.held.r)
	return true
}
