package tree

import (
	"hash/maphash"
	"iter"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Table is one of the two tables of watches.
type Table uint8

const (
	DataWatch  Table = iota // fired by the node's creation, change and deletion
	ChildWatch              // fired by the creation and deletion of its children, and by its deletion
)

// A WatchMode determines what happens to a watch that fires. The bits combine, as a watcher may
// have one watch of each mode on a path.
type WatchMode uint8

const (
	Standard   WatchMode = 1 << iota // removed when it fires
	Persistent                       // stays armed
	Recursive                        // stays armed, and also fires for all descendants; in DataWatch only
	AnyMode    = Standard | Persistent | Recursive
)

// Watches is the table of armed watches.
//
// A Watcher has at most one entry per table and path. The watches of a path fire in the order in
// which they were armed.
type Watches struct {
	tables    [2]map[string]*watchList
	count     int    // number of entries
	recursive int    // entries that are Recursive
	firing    uint64 // number of the current event
}

// A Watcher receives notifications of events: one connection of a session.
type Watcher struct {
	// Session is the connection's session.
	Session int64
	// Notify is called when a watch fires. It must not use the Watches.
	Notify func(e Event, zxid int64)

	armed map[watchKey]*watch
	told  uint64 // number of the last event
}

type watchKey struct {
	table Table
	path  string
}

type watch struct {
	by         *Watcher
	list       *watchList
	prev, next *watch
	mode       WatchMode
}

type watchList struct {
	first, last *watch
	len         int
}

// NewWatches returns an empty table.
func NewWatches() *Watches {
	return &Watches{tables: [2]map[string]*watchList{{}, {}}}
}

// Len returns the number of watches. Watches of one watcher on one path count once per table.
func (ws *Watches) Len() int { return ws.count }

// All yields the paths and the watchers of a table, path by path.
func (ws *Watches) All(table Table) iter.Seq2[string, *Watcher] {
	return func(yield func(string, *Watcher) bool) {
		for path, list := range ws.tables[table] {
			for x := list.first; x != nil; x = x.next {
				if !yield(path, x.by) {
					return
				}
			}
		}
	}
}

// Armed returns the modes that w has armed on the path.
func (ws *Watches) Armed(w *Watcher, table Table, path string) WatchMode {
	if x := w.armed[watchKey{table, path}]; x != nil {
		return x.mode
	}
	return 0
}

// Arm arms a watch of w on the path.
func (ws *Watches) Arm(w *Watcher, table Table, path string, mode WatchMode) {
	key := watchKey{table, path}
	x := w.armed[key]
	if x == nil {
		x = ws.add(w, key)
	}
	if mode&^x.mode&Recursive != 0 {
		ws.recursive++
	}
	x.mode |= mode
}

func (ws *Watches) add(w *Watcher, key watchKey) *watch {
	list := ws.tables[key.table][key.path]
	if list == nil {
		list = &watchList{}
		ws.tables[key.table][key.path] = list
	}
	if w.armed == nil {
		w.armed = map[watchKey]*watch{}
	}
	x := list.push(w)
	w.armed[key] = x
	ws.count++
	return x
}

// Disarm removes modes from w's watch on the path, and reports whether it had one of them.
func (ws *Watches) Disarm(w *Watcher, table Table, path string, modes WatchMode) bool {
	key := watchKey{table, path}
	x := w.armed[key]
	if x == nil || x.mode&modes == 0 {
		return false
	}
	ws.weaken(x, key, modes)
	return true
}

// Forget removes all watches of w.
func (ws *Watches) Forget(w *Watcher) {
	for key, x := range w.armed {
		ws.weaken(x, key, AnyMode)
	}
}

// weaken removes modes from a watch, and removes the watch if no mode is left.
func (ws *Watches) weaken(x *watch, key watchKey, modes WatchMode) {
	if x.mode&modes&Recursive != 0 {
		ws.recursive--
	}
	if x.mode &^= modes; x.mode != 0 {
		return
	}
	if x.list.remove(x); x.list.len == 0 {
		delete(ws.tables[key.table], key.path)
	}
	delete(x.by.armed, key)
	ws.count--
}

func (l *watchList) push(w *Watcher) *watch {
	x := &watch{by: w, list: l, prev: l.last}
	if l.last == nil {
		l.first = x
	} else {
		l.last.next = x
	}
	l.last = x
	l.len++
	return x
}

func (l *watchList) remove(x *watch) {
	if x.prev == nil {
		l.first = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next == nil {
		l.last = x.prev
	} else {
		x.next.prev = x.prev
	}
	l.len--
}

// Fired is the number of watchers of an event, by table. A watcher in both tables counts in both
// and is notified once.
type Fired [2]int

// Fire notifies the watchers of an event, which the transaction with the zxid caused, and disarms
// one-time watches.
func (ws *Watches) Fire(e Event, zxid int64) (f Fired) {
	ws.firing++
	if e.Type != wire.EventChildrenChanged {
		f[DataWatch] = ws.fireAt(DataWatch, e.Path, e, zxid) + ws.fireAbove(e, zxid)
	}
	if e.Type == wire.EventChildrenChanged || e.Type == wire.EventDeleted {
		f[ChildWatch] = ws.fireAt(ChildWatch, e.Path, e, zxid)
	}
	return f
}

// fireAt notifies the watchers of the event's own path and returns their number.
func (ws *Watches) fireAt(table Table, path string, e Event, zxid int64) (found int) {
	list := ws.tables[table][path]
	if list == nil {
		return 0
	}
	found = list.len
	key := watchKey{table, path}
	for x := list.first; x != nil; {
		next := x.next
		ws.tell(x.by, e, zxid)
		ws.weaken(x, key, Standard)
		x = next
	}
	return found
}

// fireAbove notifies the recursive watchers of the ancestors, and returns the number of those that
// were not notified before.
func (ws *Watches) fireAbove(e Event, zxid int64) (found int) {
	if ws.recursive == 0 {
		return 0
	}
	for path := e.Path; path != "/"; {
		path = parentPath(path)
		list := ws.tables[DataWatch][path]
		if list == nil {
			continue
		}
		for x := list.first; x != nil; x = x.next {
			if x.mode&Recursive != 0 && ws.tell(x.by, e, zxid) {
				found++
			}
		}
	}
	return found
}

// tell notifies a watcher of the current event unless it was already notified.
func (ws *Watches) tell(w *Watcher, e Event, zxid int64) bool {
	if w.told == ws.firing {
		return false
	}
	w.told = ws.firing
	w.Notify(e, zxid)
	return true
}

// A table is a hash index: it finds the place of a name in a list. Names are stored in the list
// only, so the table takes a fraction of a map's memory and has no pointers for the garbage
// collector to scan.
//
// Its length is a power of two. An entry takes the first free slot from its home slot, which its
// hash determines, so there is never a free slot between an entry's home and the entry.
type table []slot

// The zero slot is free.
type slot struct {
	hash  uint32
	count int32 // the place plus one
}

// seed prevents an attacker from choosing names with equal hashes. No visible order depends on it.
var seed = maphash.MakeSeed()

func hashOf(name string) uint32 { return uint32(maphash.String(seed, name)) }

func slotOf(hash uint32, place int32) slot { return slot{hash, place + 1} }

func (s slot) used() bool { return s.count != 0 }

func (s slot) place() int32 { return s.count - 1 }

func (t table) home(hash uint32) int { return int(hash) & (len(t) - 1) }

func (t table) next(i int) int { return (i + 1) & (len(t) - 1) }

// distance returns the number of steps from one slot to another.
func (t table) distance(from, to int) int { return (to - from) & (len(t) - 1) }

// full reports whether a table of count entries is too full for short searches.
func (t table) full(count int) bool { return count > len(t)/4*3 }

// grown returns a table of twice the size with the same entries.
func (t table) grown() table {
	larger := make(table, max(4, 2*len(t)))
	for _, s := range t {
		if s.used() {
			larger.add(s)
		}
	}
	return larger
}

func (t table) add(s slot) {
	i := t.home(s.hash)
	for t[i].used() {
		i = t.next(i)
	}
	t[i] = s
}

// find returns the slot of the place, which must be in the table.
func (t table) find(hash uint32, place int32) int {
	i := t.home(hash)
	for t[i] != slotOf(hash, place) {
		i = t.next(i)
	}
	return i
}

// remove frees the slot of the place, and moves later entries forward so that no free slot lies
// between an entry and its home.
func (t table) remove(hash uint32, place int32) {
	free := t.find(hash, place)
	for i := t.next(free); t[i].used(); i = t.next(i) {
		if t.distance(t.home(t[i].hash), i) >= t.distance(free, i) {
			t[free], free = t[i], i
		}
	}
	t[free] = slot{}
}
