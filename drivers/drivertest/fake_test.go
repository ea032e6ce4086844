package drivertest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A fake is a service in memory that keeps the contract, except for its bug.
type fake struct {
	bug     bug
	latency *rand.Rand // of messages; nil if there is none

	mu      sync.Mutex
	pos     int64
	nodes   map[string]*fakeNode
	watches map[fakeTable][]*fakeWatch // in the order they were armed
	keeps   []*fakeKeep                // in the order they were armed
	writer  *fakeConn                  // the session that makes the current change, for a bug
	conns   map[*fakeConn]bool
	removed map[string]int32 // versions of removed nodes, for a bug
	stop    chan struct{}    // closed when the case is over
}

type fakeNode struct {
	data     []byte
	stat     drivers.Stat
	owner    *fakeConn // nil unless ephemeral
	seq      int64
	children int
	creates  int64

	former *fakeNode // before the last set, for a bug
	reads  int       // so far, for the same bug
}

// A fakeTable is what one watch covers.
type fakeTable struct {
	path     string
	children bool
}

// A fakeWatch is armed when its call has returned. A watch that is not armed is dead.
type fakeWatch struct {
	conn  *fakeConn
	fire  drivers.Watch
	armed bool // guarded by conn.mu
	stays bool // stays armed after it has fired
}

// newSlowFake returns a fake for use in a bubble. Messages take different times, so that
// concurrent steps interleave in many ways, on any number of processors.
func newSlowFake(b bug) *fake {
	f := newFake(b)
	f.latency = rand.New(rand.NewPCG(1, 2))
	return f
}

// travel waits for as long as a message takes.
func (f *fake) travel() {
	if f.latency == nil {
		return
	}
	f.mu.Lock()
	d := f.latency.IntN(5)
	f.mu.Unlock()
	if d == 0 {
		return
	}
	f.pause(time.Duration(d) * time.Microsecond)
}

// pause waits, in a bubble: only slow fakes and those with bugs do. It reports false if the fake was closed first.
func (f *fake) pause(d time.Duration) (over bool) {
	select {
	case <-time.After(d):
		return true
	case <-f.stop:
		return false
	}
}

func newFake(b bug) *fake {
	root := &fakeNode{seq: drivers.NoSeq}
	return &fake{
		bug:     b,
		nodes:   map[string]*fakeNode{"/": root},
		watches: map[fakeTable][]*fakeWatch{},
		conns:   map[*fakeConn]bool{},
		removed: map[string]int32{},
		stop:    make(chan struct{}),
	}
}

func (f *fake) Info() drivers.Info { return drivers.Info{Name: "fake"} }

// Close ends the goroutines that a bug may have left running.
func (f *fake) Close() error {
	close(f.stop)
	return nil
}

func (f *fake) Expire(_ context.Context, c drivers.Conn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endSession(c.(*fakeConn), f.bug != expiryKeepsEphemerals)
	return nil
}

// endSession removes the session's watches and ephemeral nodes, and sends it the end of
// the session. The caller holds mu.
func (f *fake) endSession(c *fakeConn, removes bool) {
	if !f.conns[c] && f.bug != closeTakesOthersNodes {
		return
	}
	delete(f.conns, c)
	for table, watches := range f.watches {
		f.watches[table] = slices.DeleteFunc(watches, func(w *fakeWatch) bool { return w.conn == c })
	}
	f.keeps = slices.DeleteFunc(f.keeps, func(k *fakeKeep) bool { return k.conn == c })
	var owned []string
	for p, n := range f.nodes {
		if removes && n.owner != nil && (n.owner == c || f.bug == closeTakesOthersNodes) {
			owned = append(owned, p)
		}
	}
	for i, p := range owned {
		if f.bug == oneEphemeralStays && i == 0 {
			continue
		}
		f.pos++
		f.drop(p)
	}
	c.push(packet{end: true})
}

// parent returns the path above p and its node, which is nil if there is none.
func (f *fake) parent(p string) (string, *fakeNode) {
	above := path.Dir(p)
	return above, f.nodes[above]
}

func (f *fake) create(c *fakeConn, p string, data []byte, mode drivers.Mode) (string, int64, error) {
	f.pos++
	above, parent := f.parent(p)
	if parent == nil && f.bug == makesParents {
		parent = &fakeNode{seq: drivers.NoSeq}
		f.nodes[above] = parent
	}
	if parent == nil {
		return "", 0, drivers.ErrNoNode
	}
	if parent.owner != nil && f.bug != childrenBelowEphemerals {
		return "", 0, drivers.ErrNoChildrenForEphemerals
	}
	seq := drivers.NoSeq
	if mode&drivers.Sequential != 0 {
		p, seq = f.sequential(above, p, parent, c)
	} else if f.bug == plainHaveSeq {
		seq = parent.creates
	}
	if f.nodes[p] != nil && f.bug != createOverwrites {
		return "", 0, drivers.ErrNodeExists
	}
	f.nodes[p] = f.newNode(c, p, data, seq, mode)
	parent.creates++
	parent.children++
	if f.bug == childrenCountAsChanges {
		parent.stat.Version++
	}
	f.notify(drivers.Created, fakeTable{p, false}, p)
	f.notify(drivers.ChildrenChanged, fakeTable{above, true}, above)
	return p, seq, nil
}

func (f *fake) newNode(c *fakeConn, p string, data []byte, seq int64, mode drivers.Mode) *fakeNode {
	n := &fakeNode{data: slices.Clone(data), seq: seq}
	n.stat = drivers.Stat{Created: f.pos, Modified: f.pos}
	if mode&drivers.Ephemeral != 0 {
		n.owner = c
		n.stat.Ephemeral = f.bug != hidesEphemeral
	}
	switch f.bug {
	case versionsFromOne:
		n.stat.Version = 1
	case versionsGoOn:
		n.stat.Version = f.removed[p]
	case positionsPerNode:
		n.stat.Created, n.stat.Modified = 1, 1
	}
	return n
}

func (f *fake) sequential(above, p string, parent *fakeNode, c *fakeConn) (string, int64) {
	seq := parent.creates
	switch f.bug {
	case reusesSequence:
		seq = int64(parent.children)
	case sequencePerSession:
		seq = c.creates
		c.creates++
		return fmt.Sprintf("%s%d-%p", p, seq, c), seq
	case sequencePerName:
		seq = int64(len(f.below(above, path.Base(p))))
	case sequenceDescends:
		seq = 1_000_000 - seq
	case sequenceSticks:
		seq = 0
	case dropsPrefix:
		p = above + "/"
	}
	return fmt.Sprintf("%s%010d", p, seq), seq
}

// below lists the children whose names have the prefix.
func (f *fake) below(above, prefix string) []drivers.Child {
	base := strings.TrimSuffix(above, "/") + "/"
	var found []drivers.Child
	for p, n := range f.nodes {
		name, under := strings.CutPrefix(p, base)
		if f.bug == listsByPrefix {
			name, under = strings.CutPrefix(p, strings.TrimSuffix(base, "/"))
			name = strings.TrimPrefix(name, "/")
		}
		deep := strings.Contains(name, "/") && f.bug != listsByPrefix
		if !under || name == "" || deep || !strings.HasPrefix(name, prefix) {
			continue
		}
		if f.bug == escapesNames {
			name = url.PathEscape(name)
		}
		found = append(found, drivers.Child{Name: name, Seq: n.seq})
	}
	if f.bug == listsPages {
		found = found[:min(len(found), 100)]
	}
	return found
}

func (f *fake) set(p string, data []byte, version int32) (drivers.Stat, error) {
	f.pos++
	n := f.nodes[p]
	switch {
	case n == nil:
		return drivers.Stat{}, drivers.ErrNoNode
	case version != drivers.AnyVersion && version != n.stat.Version && f.bug != ignoresVersions:
		return drivers.Stat{}, drivers.ErrBadVersion
	}
	former := *n
	n.former = &former
	same := f.bug == sameDataIsNoChange && string(n.data) == string(data)
	n.data = slices.Clone(data)
	if f.bug == cutsData {
		n.data = n.data[:min(len(n.data), 1000)]
	}
	if !same {
		n.stat.Version++
		n.stat.Modified = f.pos
	}
	f.notify(drivers.DataChanged, fakeTable{p, false}, p)
	return n.stat, nil
}

// setAll sets all nodes or none, and enters the errors in the parts.
func (f *fake) setAll(sets []drivers.Call, parts []drivers.TxnOp) (stats []drivers.Stat, err error) {
	for i, s := range sets {
		switch n := f.nodes[s.Path]; {
		case n == nil:
			err = drivers.ErrNoNode
		case s.Version != drivers.AnyVersion && s.Version != n.stat.Version:
			err = drivers.ErrBadVersion
		default:
			continue
		}
		parts[i].Err = err
		break
	}
	pos := f.pos
	for i, s := range sets {
		if err != nil && f.bug != setsSome {
			parts[i].Err = cmp.Or(parts[i].Err, drivers.ErrUnsupported)
			continue
		}
		if f.bug != setsApart {
			f.pos = pos
		}
		stat, _ := f.set(s.Path, s.Data, s.Version)
		stats = append(stats, stat)
	}
	return stats, err
}

func (f *fake) remove(c *fakeConn, p string, version int32) error {
	f.pos++
	n := f.nodes[p]
	switch {
	case n == nil && f.bug == deletesNothing:
		return nil
	case n == nil:
		return drivers.ErrNoNode
	case version != drivers.AnyVersion && version != n.stat.Version && f.bug != ignoresVersions,
		version == drivers.AnyVersion && n.stat.Version > 2 && f.bug == anyVersionIsZero:
		return drivers.ErrBadVersion
	case n.children > 0 && f.bug == deletesTrees:
		for _, child := range f.below(p, "") {
			f.drop(p + "/" + child.Name)
		}
	case n.children > 0:
		return drivers.ErrNotEmpty
	case n.owner != nil && n.owner != c && f.bug == onlyOwnersDelete:
		return drivers.ErrRefused
	}
	f.drop(p)
	return nil
}

// drop removes the node and fires the watches that cover it.
func (f *fake) drop(p string) {
	above, parent := f.parent(p)
	f.removed[p] = f.nodes[p].stat.Version
	delete(f.nodes, p)
	parent.children--
	f.notify(drivers.Deleted, fakeTable{p, false}, p)
	f.notify(drivers.Deleted, fakeTable{p, true}, p)
	f.notify(drivers.ChildrenChanged, fakeTable{above, true}, above)
}

// notify queues the event once for each session that watches.
func (f *fake) notify(t drivers.EventType, table fakeTable, p string) {
	if f.bug == noEventForDeletion && t == drivers.Deleted || f.bug == noEventForCreation && t == drivers.Created {
		return
	}
	byConn := map[*fakeConn][]*fakeWatch{}
	for _, w := range f.watches[table] {
		byConn[w.conn] = append(byConn[w.conn], w)
	}
	if f.bug != staysArmed {
		delete(f.watches, table)
	}
	if f.bug == otherEvents {
		t = drivers.DataChanged
	}
	for _, k := range f.kept(t, table, f.writer) {
		byConn[k.conn] = append(byConn[k.conn], k.fakeWatch)
	}
	for c, watches := range byConn {
		if f.bug == oneSessionNotified && len(byConn) > 1 {
			delete(byConn, c)
			continue
		}
		if f.bug == oneWatchPerPath {
			watches = watches[:1]
		}
		c.push(packet{event: drivers.Event{Type: t, Path: p, Pos: f.eventPos()}, watches: watches})
	}
}

func (f *fake) eventPos() int64 {
	if f.bug == eventPosIsLater {
		return f.pos + 1
	}
	return f.pos
}

// read returns the node or, for a bug, its former state.
func (f *fake) read(p string) *fakeNode {
	n := f.nodes[p]
	if n == nil || n.former == nil || f.bug != readsLag {
		return n
	}
	if n.reads++; n.reads%2 == 0 {
		return n
	}
	return n.former
}
