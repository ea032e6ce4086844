package observe

import (
	"fmt"
	"maps"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A group is a node with the patterns below it, as the rules see it.
type group struct {
	dir      *pattern
	kids     []*pattern
	siblings []group    // the other nodes below the same one
	below    []*pattern // what a recursive watch of the node covers
}

// recognise returns the form at the group, and the patterns whose notifications belong to it. The place has the
// name of the first of them if a recursive watch is over the others.
func (g group) recognise() (f observation.Form, of []*pattern, over bool) {
	for _, rule := range []func(group) (observation.Form, []*pattern){queues, lines, meetings, transactions, racesBelow, signalsBelow, lists} {
		if f, of := rule(g); f.Name != "" {
			return f, of, false
		}
	}
	f, of = trees(g)
	return f, of, true
}

// recogniseNode returns the form of a single node.
func recogniseNode(p *pattern) observation.Form {
	if p.maySignal() {
		return observation.Form{}
	}
	for _, rule := range []func(*pattern) observation.Form{signals, races, barriers, values} {
		if f := rule(p); f.Name != "" {
			return f
		}
	}
	return observation.Form{}
}

func (p *pattern) op(op drivers.Op) *opCounts { return &p.ops[op] }

// A watch of etcd lasts. Of a client that gives it up when it has fired, and arms the next one beside its next read, it is
// what a read with a watch is in ZooKeeper's protocol.

// lasting returns how many watches of the operation were armed to last, and once how many to fire once: all of them are
// used as most of those that have fired.
func (p *pattern) lasting(op drivers.Op) int64 {
	o := p.op(op)
	return o.requests - p.once(op)
}

func (p *pattern) once(op drivers.Op) int64 {
	o := p.op(op)
	if o.spent == 0 || 2*o.spent < o.fired {
		return 0
	}
	return o.requests
}

// armed returns how many reads came with a watch on the node itself.
func (p *pattern) armed() int64 {
	return p.op(drivers.OpExists).watched + p.op(drivers.OpGet).watched + p.once(drivers.OpWatchNode)
}

// watchedReads returns how many reads of the node's data came with a watch.
func (p *pattern) watchedReads() int64 {
	g := p.op(drivers.OpGet)
	return g.watched + min(p.once(drivers.OpWatchNode), g.requests-g.watched)
}

// watched returns how many watches on the node itself were armed, by reads or by themselves.
func (p *pattern) watched() int64 { return p.armed() + p.lasting(drivers.OpWatchNode) }

// lists returns how many lists of the node's children came with a watch and without.
func (p *pattern) lists() (watched, plain int64) {
	o := p.op(drivers.OpChildren)
	watched = o.watched + min(p.once(drivers.OpWatchTree), o.requests-o.watched)
	return watched, o.requests - watched
}

// pollers returns how many sessions repeat reads by one of the operations, 0 if most sessions that read do
// not, or if none does so more than once: a client may look twice.
func (p *pattern) pollers(ops ...drivers.Op) int {
	by, again, looped := client.Set{}, client.Set{}, false
	for _, op := range ops {
		maps.Copy(by, p.op(op).by)
		maps.Copy(again, p.op(op).again)
		looped = looped || p.op(op).looped
	}
	if 2*again.Count() < by.Count() || !looped {
		return 0
	}
	return again.Count()
}

func (p *pattern) sequential() int64 { return p.modes[2] + p.modes[3] }

// contended reports whether sessions watch a node and race to create it: an ephemeral one, or one that
// those who create it delete again.
func (p *pattern) contended() bool {
	creates := p.op(drivers.OpCreate)
	passes := p.modes[drivers.Ephemeral] > 0 || p.op(drivers.OpWatchNode).requests > 0 && p.op(drivers.OpDelete).by.Common(creates.by) > 1
	return passes && creates.lost > 0 && (p.watched() > 0 || p.tree != nil) && p.changesHands()
}

// changesHands reports whether the pattern is of one node, or of several of which each is created again and again and
// wakes several sessions: locks whose names differ in a number, and no members of a group.
func (p *pattern) changesHands() bool {
	creates := p.op(drivers.OpCreate)
	return p.places == 1 || creates.requests-creates.failed >= 2*p.places && fanoutOf(p).Max() > 1
}

// contested reports whether most sessions that a change of the node wakes try to set it, and lose.
func (p *pattern) contested() bool {
	sets, lost := p.op(drivers.OpSet), int64(0)
	for _, e := range p.effects {
		lost += e.lost
	}
	return 2*sets.failed > sets.requests && 2*lost > p.notifications()
}

// races recognises one ephemeral node for which sessions race.
func races(p *pattern) observation.Form {
	creates, pollers := p.op(drivers.OpCreate), max(p.op(drivers.OpExists).again.Count(), p.op(drivers.OpGet).again.Count())
	switch {
	case p.modes[drivers.Ephemeral] == 0 && !p.contended():
		return observation.Form{}
	case !p.contended() && p.watched() == 0 && pollers > 0 && creates.by.Count() > 1 && p.places == 1:
		return observation.Form{Name: "election or lock, polled node", Forms: []string{"election/poll"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("%d sessions repeatedly ask whether the node exists, and create it if not", pollers)}
	case !p.contended():
		return observation.Form{}
	}
	watching := p.watchers
	if p.tree != nil {
		watching = p.tree.op(drivers.OpWatchTree).by
	}
	return observation.Form{
		Name: "lock or election, one node", Forms: []string{"lock/one-node", "election/one-node"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("%d sessions watch the node and race to create it: %d of %d creates failed", watching.Common(creates.by), creates.lost, creates.requests),
	}
}

// barriers recognises a node for whose end sessions wait.
func barriers(p *pattern) observation.Form {
	e, pollers := p.op(drivers.OpExists), p.pollers(drivers.OpExists)
	if p.modes[drivers.Ephemeral]+p.sequential() > 0 || p.op(drivers.OpSet).requests > 0 || e.requests == 0 {
		return observation.Form{}
	}
	switch {
	case (e.watched > 0 || p.once(drivers.OpWatchNode) > 0) && p.events[drivers.Deleted] > 0:
		return observation.Form{Name: "barrier, watch", Forms: []string{"barrier/watch"}, WaitFor: observation.News,
			Evidence: client.Say(p.watchers.Count(), "watches", "watch") + " the node until it is deleted"}
	case p.watched() == 0 && pollers > 0 && p.op(drivers.OpDelete).requests > 0:
		return observation.Form{Name: "barrier, polled", Forms: []string{"barrier/poll"}, Instead: "watch", WaitFor: observation.Item,
			Evidence: client.Say(pollers, "repeatedly asks", "repeatedly ask") + " whether the node exists"}
	}
	return observation.Form{}
}

// values recognises nodes whose data sessions follow. The node of a line is none: etcd's clients read
// it to see that it exists.
func values(p *pattern) observation.Form {
	g, pollers := p.op(drivers.OpGet), p.pollers(drivers.OpGet)
	// An event of etcd has the value.
	unread := g.requests == 0 && (p.op(drivers.OpWatchNode).requests == 0 || p.events[drivers.DataChanged] == 0)
	if p.lined || unread || p.op(drivers.OpSet).requests == 0 && p.op(drivers.OpWatchNode).requests == 0 && pollers == 0 {
		return observation.Form{}
	}
	if sets := p.op(drivers.OpSet); p.contested() {
		return observation.Form{Name: "lock or election, one node, set by version", Forms: []string{}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("most sessions that a change wakes set the node and lose: %d of %d sets failed", sets.failed, sets.requests)}
	}
	many, watched := p.places > 1, p.watchedReads()
	form := func(name, config, names, evidence string) observation.Form {
		f := observation.Form{Name: name, Forms: []string{"config/" + config}, WaitFor: observation.News, Evidence: evidence}
		if many {
			f.Name, f.Forms = strings.Replace(name, "value", "names", 1), []string{"names/" + names}
		}
		return f
	}
	switch {
	case p.lasting(drivers.OpWatchNode) > 0:
		f := form("value, persistent watch", "persistent", "persistent",
			client.Say(p.op(drivers.OpWatchNode).by.Count(), "keeps", "keep")+" a persistent watch on the node")
		f.Forms = []string{"config/persistent", "fanout/persistent"}
		return f
	case watched > 0:
		evidence := client.Say(p.watchers.Count(), "reads", "read") + " the data with a watch"
		if n := int64(p.watchers.Count()); watched > n && watched >= p.notifications() {
			evidence += ", and again after each change"
		}
		f := form("value, watched", "watch", "cached", evidence)
		if f.Forms = append(f.Forms, "mirror/watch-each", "mirror/relist"); !many {
			f.Forms = append(f.Forms[:1], "fanout/one-shot", "names/cached")
		}
		return f
	case pollers > 0:
		f := form("value, polled", "poll", "lookup",
			client.Say(pollers, "repeatedly reads", "repeatedly read")+" the data without arming a watch")
		f.Instead = "watch"
		return f
	}
	return observation.Form{}
}

// outcomes returns the notifications by what came of them. A watch that is to fire once has told what it was to tell when it
// has fired: what else comes by it, until the service has ended it, is part of that.
func (p *pattern) outcomes() (n [standings][outcomes]int64) {
	n = p.woken
	if p.once(drivers.OpWatchNode) == 0 && (p.tree == nil || p.tree.once(drivers.OpWatchTree) == 0) {
		return n
	}
	for at := range n {
		for o := range n[at] {
			n[at][o] -= p.further[at][o]
		}
	}
	return n
}

// useful splits the notifications into those that were useful and those that were wasted. It
// leaves out those of sessions that waited for nothing.
func (p *pattern) useful(to observation.Want) (useful, wasted int64, known bool) {
	woken := p.outcomes()
	if p.signals() {
		return p.notifications() - p.outdone(), p.outdone(), true
	}
	switch to {
	case observation.Unknown:
		return 0, 0, false
	case observation.Votes:
		w := woken[voted]
		return w[acted] + w[read], w[waited], true
	case observation.News:
		for _, w := range woken {
			useful += w[acted] + w[read] + w[waited] + w[unread]
		}
		return useful - p.outdone(), p.outdone(), true
	}
	counted := map[observation.Want][]standing{
		observation.Turn: {waiting}, observation.Item: {waiting, outside, following}, observation.Meeting: {waiting, turned, leaving, following},
	}
	for _, standing := range counted[to] {
		w := woken[standing]
		useful += w[acted] + w[read]
		wasted += w[waited]
	}
	if to == observation.Turn { // who only follows cannot lose
		for _, n := range woken[following] {
			useful += n
		}
	}
	return useful, wasted, true
}
