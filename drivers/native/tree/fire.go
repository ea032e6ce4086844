package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// Fired is how many watches an event found armed, by table. A Watcher that a
// deletion finds in both is told once.
type Fired [2]int

// Fire tells those who watch for the event, which the transaction with the zxid
// caused, and disarms their watches.
func (ws *Watches) Fire(e Event, zxid int64) Fired {
	switch e.Type {
	case wire.EventChildrenChanged:
		children := ws.take(ChildWatch, e.Path)
		return Fired{ChildWatch: children.notify(e, zxid)}
	case wire.EventDeleted:
		children := ws.takeChildren(e.Path)
		data := ws.take(DataWatch, e.Path)
		return Fired{data.notify(e, zxid), children.notify(e, zxid)}
	default:
		data := ws.take(DataWatch, e.Path)
		return Fired{DataWatch: data.notify(e, zxid)}
	}
}

// take empties the list of a path and returns it, or nil.
func (ws *Watches) take(table Table, path string) *watchList {
	list := ws.tables[table][path]
	if list == nil {
		return nil
	}
	delete(ws.tables[table], path)
	for x := list.first; x != nil; x = x.next {
		delete(x.by.armed, watchKey{table, path})
	}
	ws.count -= list.len
	return list
}

// takeChildren takes the child watches of a node that goes, and mutes those
// whose owners hear of it by their data watches.
func (ws *Watches) takeChildren(path string) *watchList {
	list := ws.take(ChildWatch, path)
	if list == nil {
		return nil
	}
	for x := list.first; x != nil; x = x.next {
		x.muted = x.by.armed[watchKey{DataWatch, path}] != nil
	}
	return list
}

// notify tells the owners of the watches and returns how many watches there are.
func (l *watchList) notify(e Event, zxid int64) int {
	if l == nil {
		return 0
	}
	for x := l.first; x != nil; x = x.next {
		if !x.muted {
			x.by.Notify(e, zxid)
		}
	}
	return l.len
}
