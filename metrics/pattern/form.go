package pattern

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
	dir      *Pattern
	kids     []*Pattern
	siblings []group    // the other nodes below the same one
	below    []*Pattern // what a recursive watch of the node covers
}

// recognise returns the form at the group, and the patterns whose notifications belong to it. The place has the
// name of the first of them if a recursive watch is over the others.
func (g group) recognise() (f observation.Form, of []*Pattern, over bool) {
	for _, rule := range []func(group) (observation.Form, []*Pattern){queues, lines, meetings, transactions, racesBelow, signalsBelow, lists} {
		if f, of := rule(g); f.Name != "" {
			return f, of, false
		}
	}
	f, of = trees(g)
	return f, of, true
}

// recogniseNode returns the form of a single node.
func recogniseNode(p *Pattern) observation.Form {
	if p.maySignal() {
		return observation.Form{}
	}
	for _, rule := range []func(*Pattern) observation.Form{signals, races, barriers, openings, values} {
		if f := rule(p); f.Name != "" {
			return f
		}
	}
	return observation.Form{}
}

func (p *Pattern) Op(op drivers.Op) *Counts { return &p.Ops[op] }

// A watch of etcd lasts. Of a client that gives it up when it has fired, and arms the next one beside its next read, it is
// what a read with a watch is in ZooKeeper's protocol.

// lasting returns how many watches of the operation were armed to last, and once how many to fire once: all of them are
// used as most of those that have fired.
func (p *Pattern) lasting(op drivers.Op) int64 {
	o := p.Op(op)
	return o.Requests - p.once(op)
}

func (p *Pattern) once(op drivers.Op) int64 {
	o := p.Op(op)
	if o.Spent == 0 || 2*o.Spent < o.Fired {
		return 0
	}
	return o.Requests
}

// armed returns how many reads came with a watch on the node itself.
func (p *Pattern) armed() int64 {
	return p.Op(drivers.OpExists).Watched + p.Op(drivers.OpGet).Watched + p.once(drivers.OpWatchNode)
}

// watchedReads returns how many reads of the node's data came with a watch.
func (p *Pattern) watchedReads() int64 {
	g := p.Op(drivers.OpGet)
	return g.Watched + min(p.once(drivers.OpWatchNode), g.Requests-g.Watched)
}

// Watched returns how many watches on the node itself were armed, by reads or by themselves.
func (p *Pattern) Watched() int64 { return p.armed() + p.lasting(drivers.OpWatchNode) }

// lists returns how many lists of the node's children came with a watch and without.
func (p *Pattern) lists() (watched, plain int64) {
	o := p.Op(drivers.OpChildren)
	watched = o.Watched + min(p.once(drivers.OpWatchTree), o.Requests-o.Watched)
	return watched, o.Requests - watched
}

// pollers returns how many sessions repeat reads by one of the operations, 0 if most sessions that read do
// not, or if none does so more than once: a client may look twice.
func (p *Pattern) pollers(ops ...drivers.Op) int {
	by, again, looped := client.Set{}, client.Set{}, false
	for _, op := range ops {
		maps.Copy(by, p.Op(op).By)
		maps.Copy(again, p.Op(op).Again)
		looped = looped || p.Op(op).Looped
	}
	if 2*again.Count() < by.Count() || !looped {
		return 0
	}
	return again.Count()
}

func (p *Pattern) Sequential() int64 { return p.Modes[2] + p.Modes[3] }

// contended reports whether sessions watch a node and race to create it: an ephemeral one, or one that
// those who create it delete again.
func (p *Pattern) contended() bool {
	creates := p.Op(drivers.OpCreate)
	passes := p.Modes[drivers.Ephemeral] > 0 || p.Op(drivers.OpWatchNode).Requests > 0 && p.Op(drivers.OpDelete).By.Common(creates.By) > 1
	return passes && creates.Lost > 0 && (p.Watched() > 0 || p.tree != nil) && p.changesHands()
}

// changesHands reports whether the pattern is of one node, or of several of which each is created again and again and
// wakes several sessions: locks whose names differ in a number, and no members of a group.
func (p *Pattern) changesHands() bool {
	creates := p.Op(drivers.OpCreate)
	return p.Places == 1 || creates.Requests-creates.Failed >= 2*p.Places && fanoutOf(p).Max() > 1
}

// races recognises one ephemeral node for which sessions race.
func races(p *Pattern) observation.Form {
	creates, pollers := p.Op(drivers.OpCreate), max(p.Op(drivers.OpExists).Again.Count(), p.Op(drivers.OpGet).Again.Count())
	switch {
	case p.Modes[drivers.Ephemeral] == 0 && !p.contended():
		return observation.Form{}
	case !p.contended() && p.Watched() == 0 && pollers > 0 && creates.By.Count() > 1 && p.Places == 1:
		return observation.Form{Name: "election or lock, polled node", Forms: []string{"election/poll"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("%d sessions repeatedly ask whether the node exists, and create it if not", pollers)}
	case !p.contended():
		return observation.Form{}
	}
	watching := p.Watchers
	if p.tree != nil {
		watching = p.tree.Op(drivers.OpWatchTree).By
	}
	who := fmt.Sprintf("%d sessions watch the node and race to create it", watching.Common(creates.By))
	if watching.Common(creates.By) == 0 {
		who = fmt.Sprintf("%d sessions watch the node, and %d others race to create it", watching.Count(), creates.By.Count())
	}
	return observation.Form{
		Name: "lock or election, one node", Forms: []string{"lock/one-node", "election/one-node"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("%s: %d of %d creates failed", who, creates.Lost, creates.Requests),
	}
}

// barriers recognises a node for whose end sessions wait.
func barriers(p *Pattern) observation.Form {
	e, pollers := p.Op(drivers.OpExists), p.pollers(drivers.OpExists)
	if p.Modes[drivers.Ephemeral]+p.Sequential() > 0 || p.Op(drivers.OpSet).Requests > 0 || e.Requests == 0 {
		return observation.Form{}
	}
	switch {
	case (e.Watched > 0 || p.once(drivers.OpWatchNode) > 0) && p.Events[drivers.Deleted] > 0:
		return observation.Form{Name: "barrier, watch", Forms: []string{"barrier/watch"}, WaitFor: observation.News,
			Evidence: client.Say(p.Watchers.Count(), "watches", "watch") + " the node until it is deleted"}
	case p.Watched() == 0 && pollers > 0 && p.Op(drivers.OpDelete).Requests > 0:
		return observation.Form{Name: "barrier, polled", Forms: []string{"barrier/poll"}, Instead: "watch", WaitFor: observation.Item,
			Evidence: client.Say(pollers, "repeatedly asks", "repeatedly ask") + " whether the node exists"}
	}
	return observation.Form{}
}

// openings recognises a node that is missing and for whose creation sessions wait: they are told of nothing else, and neither
// race to create it nor to write or take what was created.
func openings(p *Pattern) observation.Form {
	creates, sets, deletes := p.Op(drivers.OpCreate), p.Op(drivers.OpSet), p.Op(drivers.OpDelete)
	created := p.Events[drivers.Created]
	waits := p.armed() > 0 || p.lasting(drivers.OpWatchNode) > 0 && p.Op(drivers.OpGet).Requests == 0
	switch {
	case !waits || created == 0 || created < p.notifications() || p.Sequential() > 0:
		return observation.Form{}
	case creates.Lost+sets.Failed+deletes.Failed > 0 || p.Takers.Common(p.Watchers) > 1:
		return observation.Form{}
	case p.Modes[drivers.Ephemeral] > 0 && creates.By.Common(p.Watchers) > 0: // it may be what they want to have
		return observation.Form{}
	}
	return observation.Form{Name: "barrier, opened by creation", Forms: []string{}, WaitFor: observation.News,
		Evidence: client.Say(p.Watchers.Count(), "watches", "watch") + " for the node until it is created"}
}

// values recognises nodes whose data sessions follow. The node of a line is none: etcd's clients read
// it to see that it exists.
func values(p *Pattern) observation.Form {
	g, pollers := p.Op(drivers.OpGet), p.pollers(drivers.OpGet)
	// An event of etcd has the value.
	unread := g.Requests == 0 && (p.Op(drivers.OpWatchNode).Requests == 0 || p.Events[drivers.DataChanged] == 0)
	if p.Lined || unread || p.Op(drivers.OpSet).Requests == 0 && p.Op(drivers.OpWatchNode).Requests == 0 && pollers == 0 {
		return observation.Form{}
	}
	many, watched := p.Places > 1, p.watchedReads()
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
			client.Say(p.Op(drivers.OpWatchNode).By.Count(), "keeps", "keep")+" a persistent watch on the node")
		f.Forms = []string{"config/persistent", "fanout/persistent"}
		return f
	case watched > 0:
		evidence := client.Say(p.Watchers.Count(), "reads", "read") + " the data with a watch"
		if n := int64(p.Watchers.Count()); watched > n && watched >= p.notifications() {
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

// spendsWatches reports whether sessions use lasting watches as ones that fire once.
func (p *Pattern) spendsWatches() bool {
	return p.once(drivers.OpWatchNode) > 0 || p.tree != nil && p.tree.once(drivers.OpWatchTree) > 0
}

// outcomes returns the notifications by what came of them. A watch that is to fire once has told what it was to tell when it
// has fired: what else comes by it, until the service has ended it, is part of that.
func (p *Pattern) outcomes() (n [standings][outcomes]int64) {
	n = p.Woken
	if !p.spendsWatches() {
		return n
	}
	for at := range n {
		for o := range n[at] {
			n[at][o] -= p.Further[at][o]
		}
	}
	return n
}

// Useful splits the notifications into those that were useful and those that were wasted. It leaves out those of sessions that
// waited for nothing. Where sessions wait for their turn, by are those that try to get it.
func (p *Pattern) Useful(to observation.Want, by racers) (useful, wasted int64, known bool) {
	woken := p.outcomes()
	if p.signals() {
		return p.notifications() - p.outdone(), p.outdone(), true
	}
	switch to {
	case observation.Unknown:
		return 0, 0, false
	case observation.Votes:
		w := woken[Voted]
		return w[Acted] + w[Read], w[Waited], true
	case observation.News:
		for _, w := range woken {
			useful += w[Acted] + w[Read] + w[Waited] + w[Unread]
		}
		return useful - p.outdone(), p.outdone(), true
	case observation.Turn:
		useful, wasted = p.split(by)
	}
	counted := map[observation.Want][]Standing{
		observation.Turn: {Waiting}, observation.Item: {Waiting, Outside, Apart}, observation.Meeting: {Waiting, Turned, Leaving, Apart},
	}
	for _, standing := range counted[to] {
		w := woken[standing]
		useful += w[Acted] + w[Read]
		wasted += w[Waited]
	}
	return useful, wasted, true
}
