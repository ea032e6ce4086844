package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// Fired is how many watchers an event found, by table. One that it finds in both
// is told once.
type Fired [2]int

// Fire tells those who watch for the event, which the transaction with the zxid
// caused, and disarms the watches that fire once.
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

// fireAt tells those who watch the event's own path and returns their number.
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

// fireAbove tells those who watch a node and all below it, and returns the
// number of those who had not been told yet.
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

// tell tells a watcher of the event being fired, unless that was done already.
func (ws *Watches) tell(w *Watcher, e Event, zxid int64) bool {
	if w.told == ws.firing {
		return false
	}
	w.told = ws.firing
	w.Notify(e, zxid)
	return true
}
