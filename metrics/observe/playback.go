package observe

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A watch of etcd may ask for changes from an earlier revision on. The service then plays back what was written before the
// watch stood. That wakes nobody who was not waiting: it is history, as what a read returns. The rule is that of
// [drivers.Message]. A client was waiting if it asks from a revision at which it knew the state: it has read or written there
// what it watches, or an earlier watch on the same path, maybe by a connection that broke, has told it last of a change
// there. All that comes after that revision is news then.

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

// about reports whether the answer shows what the watch covers.
func (k answered) about(w watchKey) bool {
	return k.place == nil || k.place.path == w.path || k.list && strings.HasPrefix(w.path, k.place.path)
}

// asksFrom reports whether who asks for changes from the revision on knows the state at the position.
func asksFrom(revision, pos int64) bool { return revision == pos || revision == pos+1 }

// waitsSince returns the position at which the client knew the state of what it watches if it asks for the changes since
// then. What it has written itself counts only if it has learned nothing later.
func (c *activity) waitsSince(w watchKey, revision int64) (pos int64, waits bool) {
	newest := true
	for _, k := range slices.Backward(c.answers) {
		if !k.about(w) {
			continue
		}
		if asksFrom(revision, k.pos) && (newest || !k.wrote) {
			return k.pos, true
		}
		newest = false
	}
	return 0, false
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

// plays enters a watch with a number that a reply has armed, from the revision on that its request named.
func (t *tap) plays(m *drivers.Message, revision int64) {
	if m.Number == 0 || len(t.playing) >= t.a.limits.Watches {
		return
	}
	b := &playback{key: watchKey{string(m.Path), m.Op == drivers.OpWatchTree, true}, stood: m.Pos, last: m.Pos}
	if revision > 0 {
		b.history, b.last = m.Pos, revision-1
		if pos, waits := t.s.waitsSince(b.key, revision); waits {
			b.history = pos
		} else if pos, resumed := t.a.resumes(b.key, revision); resumed {
			b.history = pos
		}
	}
	if t.playing == nil {
		t.playing = map[int]*playback{}
	}
	t.playing[m.Number] = b
}

// playsBack reports whether a notification is history.
func (t *tap) playsBack(m *drivers.Message) bool {
	b := t.playing[m.Number]
	if b == nil || m.Kind != drivers.Notification {
		return false
	}
	b.last = max(b.last, m.Pos)
	return m.Pos <= b.history
}

// part records the end of a watch with a number.
func (t *tap) part(number int) {
	b := t.playing[number]
	if b == nil {
		return
	}
	delete(t.playing, number)
	if len(t.a.parted) >= maxParted {
		t.a.parted = slices.Delete(t.a.parted, 0, maxParted/2)
	}
	t.a.parted = append(t.a.parted, *b)
}
