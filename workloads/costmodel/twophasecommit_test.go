package costmodel

import "slices"

// poll is one transaction. Its nodes are the sites' nodes and, last, its own. said has the
// votes and the decision, by node.
type poll struct {
	nodes []int
	said  map[int]string
	own   bool // the sites create their nodes
	led   bool // a coordinator decides
	wants func(site int) string
}

// commitCast has n sites and, if led, a coordinator. In a world's second round, and in every
// third round from then on, a site aborts.
func commitCast(own, led bool) func(*world, int64) cast {
	return func(w *world, n int64) cast {
		w.rounds++
		p := &poll{said: map[int]string{}, own: own, led: led}
		aborts := w.rounds%3 == 2
		p.wants = func(site int) string {
			if aborts && site == 0 {
				return "abort"
			}
			return "commit"
		}
		for i := range n + 1 {
			w.next++
			p.nodes = append(p.nodes, w.next)
			if !own || i == n {
				w.nodes = append(w.nodes, w.next)
			}
		}
		join, lead, vote := phase{parts: make([]part, n+1)}, phase{parts: make([]part, n+1)}, phase{parts: make([]part, n+1)}
		for i := range int(n) {
			inbox := &inbox{said: map[int]string{}}
			join.parts[i] = func(a *simClient, op func()) { p.join(i, inbox, a, op) }
			vote.parts[i] = func(a *simClient, op func()) { p.vote(i, inbox, a, op) }
		}
		if led {
			lead.parts[n] = p.coordinate
		}
		return cast{[]phase{join, lead, vote}, func(w *world) {
			for _, node := range p.nodes {
				w.strike(node)
			}
		}}
	}
}

// inbox has the contents of the nodes that an simClient has read, and the nodes that changed since.
type inbox struct {
	said  map[int]string
	heard []int
	waits *simClient
	bell  watch // the watch that it is parked on
}

// watch arms a watch that adds the node to the inbox.
func (b *inbox) watch(a *simClient, node int) {
	a.world.watchNode(a, node).notify = func(node int) {
		b.heard = append(b.heard, node)
		if b.waits != nil && b.waits.waiting == &b.bell {
			b.waits.waiting = nil
		}
	}
}

// get reads a node and reports whether it exists.
func (b *inbox) get(p *poll, node int, watched bool, a *simClient, op func()) bool {
	op()
	c := &a.world.counts
	c.Reads++
	there := slices.Contains(a.world.nodes, node)
	if watched {
		c.WatchedGets++
		if there {
			b.watch(a, node)
		} else {
			c.MissedGets++
		}
	}
	if there {
		b.said[node] = p.said[node]
	}
	return there
}

// exists looks for a node with a watch, and reports whether it exists.
func (b *inbox) exists(node int, a *simClient, op func()) bool {
	op()
	c := &a.world.counts
	c.Reads++
	c.WatchedExists++
	b.watch(a, node)
	there := slices.Contains(a.world.nodes, node)
	if !there {
		c.WatchedMisses++
	}
	return there
}

// news waits until a node changes, and returns it.
func (b *inbox) news(a *simClient, op func()) int {
	for len(b.heard) == 0 {
		b.waits, a.waiting = a, &b.bell
		op()
	}
	node := b.heard[0]
	b.heard = b.heard[1:]
	return node
}

// write sets the content of a node, which is written only once.
func (p *poll) write(node int, what string, a *simClient, op func()) {
	op()
	a.world.counts.Writes++
	p.said[node] = what
	a.world.fire(node)
}

func (p *poll) transaction() int { return p.nodes[len(p.nodes)-1] }

func (p *poll) sites() []int { return p.nodes[:len(p.nodes)-1] }

func (p *poll) join(i int, b *inbox, a *simClient, op func()) {
	if p.own {
		op()
		a.world.create(p.nodes[i])
	}
	if p.led {
		b.get(p, p.transaction(), true, a, op)
		return
	}
	for _, site := range p.sites() {
		b.get(p, site, true, a, op)
	}
}

func (p *poll) vote(i int, b *inbox, a *simClient, op func()) {
	done := func() bool {
		if p.led {
			return b.said[p.transaction()] != ""
		}
		_, decided := p.follows(b)
		return decided
	}
	if !done() {
		p.write(p.nodes[i], p.wants(i), a, op)
	}
	for !done() {
		b.get(p, b.news(a, op), false, a, op)
	}
}

// follows returns the decision that the votes lead to, if they decide yet.
func (p *poll) follows(b *inbox) (decision string, decided bool) {
	votes := 0
	for _, site := range p.sites() {
		switch b.said[site] {
		case "abort":
			return "abort", true
		case "commit":
			votes++
		}
	}
	return "commit", votes == len(p.sites())
}

func (p *poll) coordinate(a *simClient, op func()) {
	b := &inbox{said: map[int]string{}}
	for _, site := range p.sites() {
		if !b.get(p, site, true, a, op) && b.exists(site, a, op) {
			b.get(p, site, false, a, op)
		}
	}
	for {
		if decision, decided := p.follows(b); decided {
			p.write(p.transaction(), decision, a, op)
			return
		}
		node := b.news(a, op)
		if b.said[node] != "" {
			continue
		}
		_, known := b.said[node]
		b.get(p, node, !known, a, op) // the first read of a site that has just joined sets a watch
	}
}
