package tree

// A Table is one of the two tables of watches.
type Table uint8

const (
	DataWatch  Table = iota // fired by the node's creation, change and deletion
	ChildWatch              // fired by its children's coming and going, and its deletion
)

// Watches says who is told of events. A watch fires once and is gone.
//
// A Watcher has at most one watch per table and path, and those of a path fire
// in the order in which they were armed.
type Watches struct {
	tables [2]map[string]*watchList
	count  int
}

// A Watcher is somebody who is told of events: one connection of a session.
type Watcher struct {
	// Notify is called when a watch fires. It must not use the Watches.
	Notify func(e Event, zxid int64)

	armed map[watchKey]*watch
}

type watchKey struct {
	table Table
	path  string
}

type watch struct {
	by         *Watcher
	list       *watchList
	prev, next *watch
	muted      bool // its owner is told by another watch
}

type watchList struct {
	first, last *watch
	len         int
}

// NewWatches returns an empty table.
func NewWatches() *Watches {
	return &Watches{tables: [2]map[string]*watchList{{}, {}}}
}

// Len is the number of armed watches.
func (ws *Watches) Len() int { return ws.count }

// Arm makes w be told of the next event for the path.
func (ws *Watches) Arm(w *Watcher, table Table, path string) {
	key := watchKey{table, path}
	if w.armed[key] != nil {
		return
	}
	list := ws.tables[table][path]
	if list == nil {
		list = &watchList{}
		ws.tables[table][path] = list
	}
	if w.armed == nil {
		w.armed = map[watchKey]*watch{}
	}
	w.armed[key] = list.push(w)
	ws.count++
}

// Forget drops everything that w has armed.
func (ws *Watches) Forget(w *Watcher) {
	for key, armed := range w.armed {
		armed.list.remove(armed)
		if armed.list.len == 0 {
			delete(ws.tables[key.table], key.path)
		}
	}
	ws.count -= len(w.armed)
	w.armed = nil
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
