package lean

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// maxRearm is the approximate limit in bytes of the paths in one request: a server accepts no
// packet of more than a megabyte.
const maxRearm = 128 << 10

// rearm returns the requests that arm the session's watches on a new connection. Watches whose
// nodes have changed since the position fire immediately.
func (c *Conn) rearm(position int64) []*call {
	requests, persistent := c.watches.rearm(position)
	all := make([]*call, len(requests))
	for i, r := range requests {
		q := request{op: drivers.OpRearm, code: wire.OpSetWatches, data: r.SetWatchesRequest.Append(nil)}
		if persistent {
			q.code, q.data = wire.OpSetWatches2, r.Append(nil)
		}
		all[i] = c.newCall(q)
		all[i].server, all[i].last = "", i == len(requests)-1
	}
	return all
}

// leave records that there is no connection: persistent watches get no events until they are
// armed again.
func (t *watches) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = true
}

// rearm returns the requests, and whether they arm persistent watches.
func (t *watches) rearm(position int64) (requests []*wire.SetWatches2Request, persistent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var r *wire.SetWatches2Request
	size := maxRearm
	next := func(path string) *wire.SetWatches2Request {
		if size += wire.LengthSize + len(path); size > maxRearm {
			r, size = &wire.SetWatches2Request{}, 0
			r.RelativeZxid = position
			requests = append(requests, r)
		}
		return r
	}
	for path, first := range t.armed {
		var kinds wire.WatchKind
		for w := first; w != nil; w = w.next {
			kinds |= w.kind
		}
		addOnce(next(path), path, kinds)
	}
	for path, p := range t.places {
		if len(p.persistent) == 0 {
			delete(t.places, path) // watches that relied on it are armed on their own from now on
			continue
		}
		persistent = true
		addLasting(next(path), path, p)
	}
	t.away = persistent
	return requests, persistent
}

func addOnce(r *wire.SetWatches2Request, path string, kinds wire.WatchKind) {
	if kinds&wire.DataWatch != 0 {
		r.Data = append(r.Data, path)
	}
	if kinds&wire.ExistWatch != 0 {
		r.Exist = append(r.Exist, path)
	}
	if kinds&wire.ChildWatch != 0 {
		r.Child = append(r.Child, path)
	}
}

// addLasting adds a place to the request, and sets what the place will be when it is answered.
func addLasting(r *wire.SetWatches2Request, path string, p *place) {
	p.tree = false
	for _, w := range p.persistent {
		p.tree = p.tree || w.tree
	}
	if p.deep = p.tree; p.deep {
		r.Recursive = append(r.Recursive, path)
	} else {
		r.Persistent = append(r.Persistent, path)
	}
}

// rearmed notifies the persistent watches that all watches are armed again.
func (t *watches) rearmed() {
	t.mu.Lock()
	t.away = false
	var all []*persistent
	for _, p := range t.places {
		all = append(all, p.persistent...)
	}
	t.mu.Unlock()
	for _, w := range all {
		w.notify(drivers.Event{Type: drivers.Rearmed, Path: w.path})
	}
}
