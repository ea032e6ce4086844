package tree

import "github.com/stampede-bench/stampede/drivers/wire"

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
