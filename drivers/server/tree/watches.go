package tree

import "iter"

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
