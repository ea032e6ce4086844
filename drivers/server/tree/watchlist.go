package tree

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
