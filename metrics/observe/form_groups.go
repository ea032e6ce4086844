package observe

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// queues recognises a node whose children are items that consumers take.
func queues(g group) (observation.Form, []*pattern) {
	i := slices.IndexFunc(g.kids, func(k *pattern) bool { return k.modes[drivers.Sequential] > 0 && k.op(drivers.OpDelete).requests > 0 })
	watchedLists, plain := g.dir.lists()
	if i < 0 || watchedLists+plain == 0 {
		return observation.Form{}, nil
	}
	item := g.kids[i]
	f := observation.Form{WaitFor: observation.Item, Evidence: fmt.Sprintf("sessions create items (%d), and consumers list, read and delete them (%d)", item.op(drivers.OpCreate).requests, item.op(drivers.OpDelete).requests)}
	recipe := "queue"
	if prioritised.MatchString(item.name) {
		recipe = "priority-queue"
	}
	words := strings.ReplaceAll(recipe, "-", " ")
	of := []*pattern{g.dir, item}
	if locks := g.locksOf(item); len(locks) > 0 {
		f.Name, f.Forms = "queue, items locked by consumers", []string{}
		f.Evidence += "; a consumer watches both lists and creates a node with the name of its item, to lock it"
		return f, append(of, locks...)
	}
	watching, taking := g.dir.watchers, item.op(drivers.OpDelete).by
	switch {
	case watching.Count() > 1 && taking.Common(watching) < 2: // they want to know what is there
		return observation.Form{}, nil
	case plain > watchedLists:
		f.Name, f.Forms = words+", one watcher", []string{recipe + "/one-watcher"}
	case recipe == "priority-queue":
		f.Name, f.Forms = words+", listed for each item", []string{"priority-queue/invalidate", "priority-queue/relist"}
	case g.dir.keptLists > 0:
		f.Name, f.Forms = words+", cached list", []string{"queue/cached-list"}
	default:
		f.Name, f.Forms = words+", all consumers watch", []string{"queue/cached-list", "queue/relist"}
	}
	if watchedLists >= plain {
		f.Instead, f.Wakes = "one-watcher", 1
	}
	return f, of
}

// locksOf returns a node beside the queue with ephemeral nodes that have the names of its items, and
// those.
func (g group) locksOf(item *pattern) []*pattern {
	for _, other := range g.siblings {
		for _, k := range other.kids {
			if k.modes[drivers.Ephemeral] > 0 && k.isNamedAs(item) {
				return []*pattern{other.dir, k}
			}
		}
	}
	return nil
}

// meetings recognises sessions that have a node each, of any name, and wait until one more node
// is created.
func meetings(g group) (observation.Form, []*pattern) {
	var ready, members *pattern
	for _, k := range g.kids {
		switch {
		case k.events[drivers.Created] > 0 && !k.contended():
			ready = k
		case k.modes[drivers.Ephemeral] > 0 && k.places > 1:
			members = k
		}
	}
	if ready == nil || members == nil || !ready.watchers.IsSubsetOf(members.op(drivers.OpCreate).by) {
		return observation.Form{}, nil
	}
	return observation.Form{Name: "double barrier, ready node", Forms: []string{"double-barrier/ready"}, WaitFor: observation.Meeting,
		Evidence: "sessions create a node each and wait for one more node, which the last of them creates"}, []*pattern{ready, members, g.dir}
}

// prioritised matches the pattern of an item's name with a priority before the sequence number.
var prioritised = regexp.MustCompile(`#-#$`)

// lines recognises a node whose children are the places of sessions that wait.
func lines(g group) (observation.Form, []*pattern) {
	var places []*pattern
	var ahead ahead
	var watches, byOthers int64
	readers := 0
	for _, k := range g.kids {
		if k.modes[drivers.Ephemeral|drivers.Sequential] == 0 {
			continue
		}
		places = append(places, k)
		ahead.add(k.ahead)
		watches += k.watched()
		byOthers += k.deletedByOthers
		if reader.MatchString(k.name[len(g.dir.name):]) {
			readers++
		}
	}
	if len(places) == 0 {
		return observation.Form{}, nil
	}
	l := lineGroup{group: g, ahead: ahead, watches: watches, byOthers: byOthers,
		shared: readers > 0 && readers < len(places)}
	f := l.form()
	return f, append(append(places, g.dir), l.ready()...)
}

// A lineGroup is a node with sequential ephemeral children.
type lineGroup struct {
	group
	ahead             ahead
	watches, byOthers int64
	shared            bool // names tell readers from writers
}

// ready returns the nodes beside the line that waited-for clients create. A lock on one node, whose
// path may be of the same pattern, is none: watches that last see it created again and again.
func (l lineGroup) ready() (r []*pattern) {
	for _, k := range l.kids {
		if k.sequential() == 0 && k.events[drivers.Created] > 0 && !k.contended() {
			r = append(r, k)
		}
	}
	return r
}

func (l lineGroup) form() observation.Form {
	watched, plain := l.dir.lists()
	pollers := l.dir.pollers(drivers.OpChildren, drivers.OpGet)
	asks := slices.ContainsFunc(l.kids, func(k *pattern) bool { return k.op(drivers.OpSet).requests > 0 })
	switch gets, grants := l.dir.op(drivers.OpGet), asks && l.dir.op(drivers.OpSet).requests > 0; {
	case grants && gets.requests > 0 && l.dir.watchedReads() == 0 && watched > plain:
		return observation.Form{Name: "priority lock, children watch", Forms: []string{"priority-lock/children-watch"}, Instead: "nearest", Wakes: 2, WaitFor: observation.Turn, Evidence: "sessions write the holders in the node of the line, and watch all of it"}
	case grants && gets.requests > 0 && l.dir.watchedReads() == 0:
		return observation.Form{Name: "priority lock, nearest", Forms: []string{"priority-lock/nearest", "priority-lock/laser-beams"}, WaitFor: observation.Turn, Evidence: "sessions write the holders in the node of the line"}
	case len(l.ready()) > 0:
		return l.doubleBarrier()
	case l.dir.lasting(drivers.OpWatchTree) > 0:
		return l.recursiveWatch()
	case watched > 0 && l.ahead.behind > 0: // a ring watches what is ahead
		return observation.Form{Name: "group, each watches each", Forms: []string{"mutual-watch/watch-each"}, Instead: "one-watch", WaitFor: observation.News, Evidence: "each session watches the nodes of the others, and the group"}
	case watched > 0 && l.watches > 0:
		return observation.Form{Name: "group, ring", Forms: []string{"group/ring"}, WaitFor: observation.News,
			Evidence: "each session watches the node ahead of its own, and the first watches the group"}
	case watched > plain:
		return l.childrenWatch()
	case l.dir.watchedReads() > 0 || l.dir.lasting(drivers.OpWatchNode) > 0:
		return observation.Form{Name: "revocable lock, shared flag", Forms: []string{"revocable-lock/shared-flag"}, Instead: "own-node", Wakes: 2, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("%d sessions wait in line, and all of them watch the lock's own node for requests to release", gets.by.Count())}
	case l.ahead.own > 0:
		return l.revocable()
	case l.watches+l.dir.op(drivers.OpWatchTree).requests == 0 && pollers > 0:
		return observation.Form{Name: "lock, polled", Forms: []string{"lock/poll"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn, Evidence: fmt.Sprintf("%d sessions repeatedly list the line without arming a watch", pollers)}
	case l.watches > 0:
		return l.aheadWatch()
	}
	return observation.Form{}
}

func (l lineGroup) doubleBarrier() observation.Form {
	f := observation.Form{Name: "double barrier", Forms: []string{"double-barrier/ready", "double-barrier/sequential"}, WaitFor: observation.Meeting,
		Evidence: "sessions create a node each and wait for one more node, which the last of them creates"}
	switch a := l.ahead; {
	case a.none+a.behind > a.next+a.only:
		f.Name, f.Forms = "double barrier, ready node", f.Forms[:1]
	case a.next+a.only > 0:
		f.Name, f.Forms = "double barrier, ready node, left in order", f.Forms[1:]
	}
	return f
}

// recursiveWatch recognises members of a group that keep a recursive watch on it. If they leave it in the order in which
// they came, and come again, it may be their turn that they wait for.
func (l lineGroup) recursiveWatch() observation.Form {
	created := client.Set{}
	for _, k := range l.kids {
		maps.Copy(created, k.op(drivers.OpCreate).by)
	}
	members := l.dir.op(drivers.OpWatchTree).by.Common(created)
	if members < 2 || l.takesTurns() {
		return observation.Form{}
	}
	return observation.Form{Name: "group, recursive watch", Forms: []string{"group/recursive", "mutual-watch/recursive"}, WaitFor: observation.News,
		Evidence: fmt.Sprintf("%d sessions have a node and keep a recursive watch on the group", members)}
}

// childrenWatch recognises sessions that watch the whole line.
func (l lineGroup) childrenWatch() observation.Form {
	lists, created := l.dir.op(drivers.OpChildren).by, client.Set{}
	for _, k := range l.kids {
		maps.Copy(created, k.op(drivers.OpCreate).by)
	}
	sessions, members := lists.Count(), lists.Common(created)
	if 2*members < sessions {
		return newsOfList("list of nodes, watched from outside", sessions, members)
	}
	evidence := fmt.Sprintf("%d sessions have a node in the line and watch all of it", members)
	// Most holders of a lock leave notifications unread. A member of a group reads all, also while it is the first: its
	// share is that of any other.
	first, others := l.woken(turned), l.woken(waiting)
	heeded := first[acted] + first[read] + first[waited]
	heeds := heeded*4 > heeded+first[unread] && 2*heeded*int64(members) >= others[acted]+others[waited]
	switch {
	case l.dir.op(drivers.OpSet).requests > 0:
		return observation.Form{Name: "double barrier, children watch", Forms: []string{"double-barrier/children-watch"}, Instead: "ready", WaitFor: observation.Meeting,
			Evidence: fmt.Sprintf("%d sessions have a node and watch all nodes, to enter and to leave", members)}
	case l.shared:
		return observation.Form{Name: "shared lock, children watch", Forms: []string{"shared-lock/children-watch"}, Instead: "nearest", Wakes: 1, WaitFor: observation.Turn, Evidence: evidence + ", readers and writers"}
	case heeds && l.takesTurns(): // a lock whose holder goes on watching, or a group
		return observation.Form{}
	case heeds:
		return observation.Form{Name: "group, children watch", Forms: []string{"group/children-watch", "mutual-watch/one-watch"}, WaitFor: observation.News, Evidence: evidence + ", also those that are first in it"}
	}
	return observation.Form{Name: "lock or election, children watch", Forms: []string{"lock/children-watch", "election/children-watch"},
		Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn, Evidence: evidence}
}

// woken returns the notifications of the line by their outcome: ZooKeeper's protocol names the node above it, etcd's what
// has changed in it.
func (l lineGroup) woken(at standing) (n [outcomes]int64) {
	for _, p := range append([]*pattern{l.dir}, l.kids...) {
		for o, times := range p.outcomes()[at] {
			n[o] += times
		}
	}
	return n
}

// takesTurns reports whether sessions leave the line in the order in which they came, and come again.
func (l lineGroup) takesTurns() bool {
	var first, later, creates int64
	by := client.Set{}
	for _, k := range l.kids {
		if k.sequential() > 0 {
			first, later, creates = first+k.deletedFirst, later+k.deletedLater, creates+k.op(drivers.OpCreate).requests
			maps.Copy(by, k.op(drivers.OpCreate).by)
		}
	}
	return first > 9*later && 2*first > creates && creates >= 2*int64(by.Count())
}

func (l lineGroup) revocable() observation.Form {
	f := observation.Form{Name: "revocable lock, own node", Forms: []string{"revocable-lock/own-node", "revocable-lock/laser-beams"}, WaitFor: observation.Turn,
		Evidence: "each session watches its own node for requests to release, and the node ahead of it"}
	if l.byOthers > 0 {
		f.Name, f.Forms = "revocable lock, deleted after a request", f.Forms[1:]
	}
	return f
}

// aheadWatch recognises sessions that watch one node of the line.
func (l lineGroup) aheadWatch() observation.Form {
	candidates := client.Set{}
	for _, k := range l.kids {
		if k.sequential() > 0 {
			maps.Copy(candidates, k.op(drivers.OpCreate).by)
		}
	}
	acknowledged := slices.ContainsFunc(l.kids, func(k *pattern) bool {
		creates := k.op(drivers.OpCreate)
		return k.modes[drivers.Ephemeral] > 0 && creates.lost == 0 && creates.by.IsSubsetOf(candidates)
	})
	lowest := l.ahead.lowest > l.ahead.next
	certain := l.ahead.lowest+l.ahead.next > 0
	evidence := fmt.Sprintf("each session watches the node ahead of its own in %s", l.dir.name)
	lowestEvidence := fmt.Sprintf("all waiting sessions watch the first node in %s", l.dir.name)
	switch {
	case l.shared && l.ahead.lowest*10 > l.ahead.next: // writers watch the node ahead in either form
		return observation.Form{Name: "shared lock, lowest writer", Forms: []string{"shared-lock/lowest-write"}, Instead: "nearest", Wakes: 1, WaitFor: observation.Turn, Evidence: lowestEvidence}
	case l.shared && !certain:
		return observation.Form{Name: "shared lock, nearest or lowest writer", Forms: []string{"shared-lock/nearest", "shared-lock/lowest-write"}, WaitFor: observation.Turn, Evidence: evidence}
	case l.shared:
		return observation.Form{Name: "shared lock, nearest", Forms: []string{"shared-lock/nearest"}, WaitFor: observation.Turn, Evidence: evidence}
	case lowest:
		return observation.Form{Name: "election or lock, watch the leader", Forms: []string{"election/watch-leader"}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn, Evidence: lowestEvidence}
	case acknowledged:
		return observation.Form{Name: "election, acknowledged", Forms: []string{"election/acknowledged"}, WaitFor: observation.Turn, Evidence: evidence + "; the first announces itself by one more node"}
	case !certain:
		return observation.Form{Name: "lock or election, predecessor or leader", Forms: []string{"lock/predecessor", "election/predecessor", "lock/go-zookeeper", "election/watch-leader"}, WaitFor: observation.Turn,
			Evidence: "sessions watch the node ahead of their own; with no more than two in line that is also the first"}
	}
	return observation.Form{Name: "lock or election, predecessor", Forms: []string{"lock/predecessor", "election/predecessor", "lock/go-zookeeper"},
		Most: 1, WaitFor: observation.Turn, Evidence: evidence}
}

func (a *ahead) add(b ahead) {
	a.next += b.next
	a.only += b.only
	a.lowest += b.lowest
	a.other += b.other
	a.behind += b.behind
	a.own += b.own
	a.none += b.none
	a.missing += b.missing
}

// transactions recognises nodes in which sessions vote.
func transactions(g group) (observation.Form, []*pattern) {
	i := slices.IndexFunc(g.kids, func(k *pattern) bool {
		sets := k.op(drivers.OpSet) // each site votes once in a node of its own
		return sets.by.Count() > 1 && sets.requests <= k.places && k.watchedReads() > 0 && k.sequential() == 0 && k.places > 1
	})
	if i < 0 {
		return observation.Form{}, nil
	}
	site := g.kids[i]
	sites, readers := site.op(drivers.OpSet).by.Count(), site.op(drivers.OpGet).by.Count()
	switch {
	case readers > 1:
		return observation.Form{Name: "two-phase commit, all watch all", Forms: []string{"two-phase-commit/all-watch-all"}, Instead: "coordinator", Wakes: 1, WaitFor: observation.Votes,
			Evidence: fmt.Sprintf("%d sessions vote in a node each, and %d watch all votes", sites, readers)}, []*pattern{site}
	case site.modes[drivers.Ephemeral] > 0:
		return observation.Form{Name: "two-phase commit, coordinator, ephemeral sites", Forms: []string{"two-phase-commit/ephemeral-sites"}, WaitFor: observation.News,
			Evidence: fmt.Sprintf("%d sessions vote in an ephemeral node each, and one watches the votes", sites)}, []*pattern{site, g.dir}
	}
	return observation.Form{Name: "two-phase commit, coordinator", Forms: []string{"two-phase-commit/coordinator"}, WaitFor: observation.News,
		Evidence: fmt.Sprintf("%d sessions vote in a node each, and one watches the votes", sites)}, []*pattern{site, g.dir}
}

// racesBelow recognises one ephemeral node for which sessions race that watch the node above it.
func racesBelow(g group) (observation.Form, []*pattern) {
	i := slices.IndexFunc(g.kids, func(k *pattern) bool {
		return k.places == 1 && k.modes[drivers.Ephemeral] > 0 && k.op(drivers.OpCreate).lost > 0 && k.watched() == 0
	})
	if watched, _ := g.dir.lists(); i < 0 || watched == 0 {
		return observation.Form{}, nil
	}
	node := g.kids[i]
	creates := node.op(drivers.OpCreate)
	racers := g.dir.op(drivers.OpChildren).by.Common(creates.by)
	if racers < 2 {
		return observation.Form{}, nil
	}
	return observation.Form{Name: "lock or election, one node, watched from above", Forms: []string{}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("%d sessions watch the list of nodes and race to create %s: %d of %d creates failed", racers, node.name, creates.lost, creates.requests)}, []*pattern{g.dir, node}
}

// lists recognises a node whose children sessions watch and leave to others: they neither race to
// create them nor take them away.
func lists(g group) (observation.Form, []*pattern) {
	if watched, _ := g.dir.lists(); watched == 0 || fanoutOf(g.dir).Max() < 2 || g.dir.maySignal() || (lineGroup{group: g}).takesTurns() { // one that waits may want its turn
		return observation.Form{}, nil
	}
	watching, created := g.dir.op(drivers.OpChildren).by, client.Set{}
	for _, k := range g.kids {
		if g.locks(k) {
			return observation.Form{}, nil
		}
		takers := k.takers.Common(watching)
		if k.modes[drivers.Ephemeral] > 0 {
			takers = int(k.deletedByOthers) // a member may remove its own node
		}
		if creates := k.op(drivers.OpCreate); 2*creates.lost > creates.requests || takers > 1 {
			return observation.Form{}, nil
		}
		maps.Copy(created, k.op(drivers.OpCreate).by)
	}
	members := watching.Common(created)
	name := "list of nodes, watched from outside"
	if 2*members >= watching.Count() {
		name = "group, children watch"
	}
	return newsOfList(name, watching.Count(), members), []*pattern{g.dir}
}

// newsOfList returns the form of a list of which all that watch it want to know.
func newsOfList(name string, watching, members int) observation.Form {
	f := observation.Form{Name: name, Forms: []string{}, WaitFor: observation.News, Evidence: client.Say(watching, "watches", "watch") + " the list"}
	if members > 0 {
		f.Evidence += fmt.Sprintf(", and %d of them have a node in it", members)
	}
	return f
}

// isNamedAs reports whether nodes of both patterns have the same names, below different nodes.
func (p *pattern) isNamedAs(o *pattern) bool { return path.Base(p.name) == path.Base(o.name) }

// locks reports whether the nodes of the pattern have the names of a queue's items beside them, which they
// lock.
func (g group) locks(k *pattern) bool {
	return slices.ContainsFunc(g.siblings, func(other group) bool {
		return slices.ContainsFunc(other.kids, func(item *pattern) bool {
			return item.sequential() > 0 && k.isNamedAs(item)
		})
	})
}

// trees recognises recursive watches.
func trees(g group) (observation.Form, []*pattern) {
	w := g.dir.op(drivers.OpWatchTree)
	if w.requests == 0 {
		return observation.Form{}, nil
	}
	of := append([]*pattern{g.dir}, g.below...)
	takers, readers := client.Set{}, client.Set{}
	for _, k := range g.below {
		maps.Copy(readers, k.op(drivers.OpGet).by)
		maps.Copy(readers, k.op(drivers.OpChildren).by)
		if k.modes[drivers.Ephemeral] == 0 {
			maps.Copy(takers, k.takers)
		}
	}
	if n := takers.Common(w.by); n > 1 {
		return observation.Form{Name: "queue, all consumers watch", Forms: []string{"queue/cached-list", "queue/relist"}, Instead: "one-watcher", Wakes: 1, WaitFor: observation.Item,
			Evidence: fmt.Sprintf("%d sessions keep a recursive watch on the node, and %d of them delete what is below it", w.by.Count(), n)}, of
	}
	f := observation.Form{Name: "names, recursive watch", Forms: []string{"names/recursive", "mirror/recursive"}, WaitFor: observation.News,
		Evidence: client.Say(w.by.Count(), "keeps", "keep") + " a recursive watch on the node"}
	if readers.Common(w.by) > 0 {
		f.Evidence += ", and " + client.Say(readers.Common(w.by), "reads", "read") + " what changes below it"
	}
	return f, of
}
