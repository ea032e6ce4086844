package pattern

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
func queues(g group) (observation.Form, []*Pattern) {
	i := slices.IndexFunc(g.kids, func(k *Pattern) bool { return k.Modes[drivers.Sequential] > 0 && k.Op(drivers.OpDelete).Requests > 0 })
	watchedLists, plain := g.dir.lists()
	if i < 0 || watchedLists+plain == 0 {
		return observation.Form{}, nil
	}
	item := g.kids[i]
	f := observation.Form{WaitFor: observation.Item, Evidence: fmt.Sprintf("sessions create items (%d), and consumers list, read and delete them (%d)", item.Op(drivers.OpCreate).Requests, item.Op(drivers.OpDelete).Requests)}
	recipe := "queue"
	if prioritised.MatchString(item.Name) {
		recipe = "priority-queue"
	}
	words := strings.ReplaceAll(recipe, "-", " ")
	of := []*Pattern{g.dir, item}
	if locks := g.locksOf(item); len(locks) > 0 {
		f.Name, f.Forms = "queue, items locked by consumers", []string{}
		f.Evidence += "; a consumer watches both lists and creates a node with the name of its item, to lock it"
		return f, append(of, locks...)
	}
	watching, taking := g.dir.Watchers, item.Op(drivers.OpDelete).By
	switch {
	case watching.Count() > 1 && taking.Common(watching) < 2: // they want to know what is there
		return observation.Form{}, nil
	case plain > watchedLists:
		f.Name, f.Forms = words+", one watcher", []string{recipe + "/one-watcher"}
	case recipe == "priority-queue":
		f.Name, f.Forms = words+", listed for each item", []string{"priority-queue/invalidate", "priority-queue/relist"}
	case g.dir.KeptLists > 0:
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
func (g group) locksOf(item *Pattern) []*Pattern {
	for _, other := range g.siblings {
		for _, k := range other.kids {
			if k.Modes[drivers.Ephemeral] > 0 && k.isNamedAs(item) {
				return []*Pattern{other.dir, k}
			}
		}
	}
	return nil
}

// meetings recognises sessions that have a node each, of any name, and wait until one more node
// is created.
func meetings(g group) (observation.Form, []*Pattern) {
	var ready, members *Pattern
	for _, k := range g.kids {
		switch {
		case k.Events[drivers.Created] > 0 && !k.contended():
			ready = k
		case k.Modes[drivers.Ephemeral] > 0 && k.Places > 1:
			members = k
		}
	}
	if ready == nil || members == nil || !ready.Watchers.IsSubsetOf(members.Op(drivers.OpCreate).By) {
		return observation.Form{}, nil
	}
	return observation.Form{Name: "double barrier, ready node", Forms: []string{"double-barrier/ready"}, WaitFor: observation.Meeting,
		Evidence: "sessions create a node each and wait for one more node, which the last of them creates"}, []*Pattern{ready, members, g.dir}
}

// prioritised matches the pattern of an item's name with a priority before the sequence number.
var prioritised = regexp.MustCompile(`#-#$`)

// reader matches the name of a reader's node in a line: "read-", "a-read-", "__READ__". A thread is none.
var reader = regexp.MustCompile(`(?i)(^|[^a-z])read`)

// IsReader reports whether the name of a node in a line says that it is a reader's.
func IsReader(name string) bool { return reader.MatchString(name) }

// lines recognises a node whose children are the places of sessions that wait.
func lines(g group) (observation.Form, []*Pattern) {
	var places []*Pattern
	var ahead Ahead
	var watches, byOthers int64
	var rounds observation.Rounds
	var left Left
	readers := 0
	for _, k := range g.kids {
		if k.Modes[drivers.Ephemeral|drivers.Sequential] == 0 {
			continue
		}
		places = append(places, k)
		ahead.add(k.Ahead)
		watches += k.Watched()
		byOthers += k.DeletedByOthers
		rounds.Merge(k.Rounds)
		left.add(k.Left)
		if IsReader(k.Name[len(g.dir.Name):]) {
			readers++
		}
	}
	if len(places) == 0 {
		return observation.Form{}, nil
	}
	l := lineGroup{group: g, ahead: ahead, watches: watches, byOthers: byOthers, rounds: rounds, left: left,
		shared: readers > 0 && readers < len(places)}
	f := l.form()
	return f, append(append(places, g.dir), l.ready()...)
}

// A lineGroup is a node with sequential ephemeral children.
type lineGroup struct {
	group
	ahead             Ahead
	watches, byOthers int64
	rounds            observation.Rounds
	left              Left
	shared            bool // names tell readers from writers
}

// ready returns the nodes beside the line that waited-for clients create. A lock on one node, whose
// path may be of the same pattern, is none: watches that last see it created again and again.
func (l lineGroup) ready() (r []*Pattern) {
	for _, k := range l.kids {
		if k.Sequential() == 0 && k.Events[drivers.Created] > 0 && !k.contended() {
			r = append(r, k)
		}
	}
	return r
}

func (l lineGroup) form() observation.Form {
	watched, plain := l.dir.lists()
	pollers := l.dir.pollers(drivers.OpChildren, drivers.OpGet)
	asks := slices.ContainsFunc(l.kids, func(k *Pattern) bool { return k.Op(drivers.OpSet).Requests > 0 })
	// The holders are written only where somebody asks for the lock, or may: each watches its own node then.
	switch gets, grants := l.dir.Op(drivers.OpGet), (asks || l.ahead.Own > 0) && l.dir.Op(drivers.OpSet).Requests > 0; {
	case grants && gets.Requests > 0 && l.dir.watchedReads() == 0 && watched > plain:
		return observation.Form{Name: "priority lock, children watch", Forms: []string{"priority-lock/children-watch"}, Instead: "nearest", Wakes: 2, WaitFor: observation.Turn, Evidence: "sessions write the holders in the node of the line, and watch all of it"}
	case grants && gets.Requests > 0 && l.dir.watchedReads() == 0:
		return observation.Form{Name: "priority lock, nearest", Forms: []string{"priority-lock/nearest", "priority-lock/laser-beams"}, WaitFor: observation.Turn, Evidence: "sessions write the holders in the node of the line"}
	case len(l.ready()) > 0:
		return l.doubleBarrier()
	case l.dir.lasting(drivers.OpWatchTree) > 0:
		return l.recursiveWatch()
	case watched > 0 && l.ahead.Behind > 0: // a ring watches what is ahead
		return observation.Form{Name: "group, each watches each", Forms: []string{"mutual-watch/watch-each"}, Instead: "one-watch", WaitFor: observation.News, Evidence: "each session watches the nodes of the others, and the group"}
	case watched > 0 && l.ahead.Next+l.ahead.Only > 0 && l.ahead.Own == 0:
		return observation.Form{Name: "group, ring", Forms: []string{"group/ring"}, WaitFor: observation.News,
			Evidence: "each session watches the node ahead of its own, and the first watches the group"}
	case watched > plain:
		return l.childrenWatch()
	case l.dir.watchedReads() > 0 || l.dir.lasting(drivers.OpWatchNode) > 0:
		return observation.Form{Name: "revocable lock, shared flag", Forms: []string{"revocable-lock/shared-flag"}, Instead: "own-node", Wakes: 2, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("%d sessions wait in line, and all of them watch the lock's own node for requests to release", gets.By.Count())}
	case l.ahead.Own > 0:
		return l.revocable()
	case l.watches+watched+l.dir.Op(drivers.OpWatchTree).Requests == 0 && l.rounds.Poll():
		return observation.Form{Name: "line, asked by writing", Forms: []string{}, WaitFor: observation.Turn,
			Evidence: fmt.Sprintf("sessions create a node, list the line without a watch and delete the node again: in %d of %d rounds it was not the first", l.rounds.Behind, l.rounds.Times)}
	case l.watches+l.dir.Op(drivers.OpWatchTree).Requests == 0 && pollers > 0 && l.left.severalAtOnce():
		return l.semaphore("semaphore, polled", fmt.Sprintf("%d sessions repeatedly list the line without arming a watch", pollers))
	case l.watches+l.dir.Op(drivers.OpWatchTree).Requests == 0 && pollers > 0:
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
	case a.None+a.Behind > a.Next+a.Only:
		f.Name, f.Forms = "double barrier, ready node", f.Forms[:1]
	case a.Next+a.Only > 0:
		f.Name, f.Forms = "double barrier, ready node, left in order", f.Forms[1:]
	}
	return f
}

// recursiveWatch recognises members of a group that keep a recursive watch on it. If they leave it in the order in which
// they came, and come again, it may be their turn that they wait for.
func (l lineGroup) recursiveWatch() observation.Form {
	created := client.Set{}
	for _, k := range l.kids {
		maps.Copy(created, k.Op(drivers.OpCreate).By)
	}
	members := l.dir.Op(drivers.OpWatchTree).By.Common(created)
	if members < 2 {
		return observation.Form{}
	}
	evidence := fmt.Sprintf("%d sessions have a node and keep a recursive watch on all; they leave in the order in which they came, and come again", members)
	switch heeds, told := l.firstHeeds(members); {
	case l.takesTurns() && told && !heeds:
		return childrenLock(evidence + ", and read no more of it while they are first")
	case l.takesTurns():
		return unclear(evidence)
	}
	return observation.Form{Name: "group, recursive watch", Forms: []string{"group/recursive", "mutual-watch/recursive"}, WaitFor: observation.News,
		Evidence: fmt.Sprintf("%d sessions have a node and keep a recursive watch on the group", members)}
}

// childrenWatch recognises sessions that watch the whole line.
func (l lineGroup) childrenWatch() observation.Form {
	lists, created := l.dir.Op(drivers.OpChildren).By, client.Set{}
	for _, k := range l.kids {
		maps.Copy(created, k.Op(drivers.OpCreate).By)
	}
	sessions, members := lists.Count(), lists.Common(created)
	if 2*members < sessions {
		return newsOfList("list of nodes, watched from outside", sessions, members)
	}
	evidence := fmt.Sprintf("%d sessions have a node in the line and watch all of it", members)
	heeds, _ := l.firstHeeds(members)
	switch {
	case l.dir.Op(drivers.OpSet).Requests > 0:
		return observation.Form{Name: "double barrier, children watch", Forms: []string{"double-barrier/children-watch"}, Instead: "ready", WaitFor: observation.Meeting,
			Evidence: fmt.Sprintf("%d sessions have a node and watch all nodes, to enter and to leave", members)}
	case l.shared:
		return observation.Form{Name: "shared lock, children watch", Forms: []string{"shared-lock/children-watch"}, Instead: "nearest", Wakes: 1, WaitFor: observation.Turn, Evidence: evidence + ", readers and writers"}
	case l.left.severalAtOnce() && (!heeds || l.left.goOn()):
		return l.semaphore("semaphore, children watch", evidence)
	case heeds && l.takesTurns(): // a lock whose holder goes on watching, or a group
		return unclear(evidence + "; they leave it in the order in which they came, and come again")
	case heeds:
		return observation.Form{Name: "group, children watch", Forms: []string{"group/children-watch", "mutual-watch/one-watch"}, WaitFor: observation.News, Evidence: evidence + ", also those that are first in it"}
	}
	return childrenLock(evidence)
}

// firstHeeds reports whether those that are first in the line act on what they are told, as members of a group do, and whether they
// are told of anything. Most holders of a lock leave notifications unread. A member of a group reads all, also while it is the first:
// its share is that of any other.
func (l lineGroup) firstHeeds(members int) (heeds, told bool) {
	first, others := l.woken(Turned), l.woken(Waiting)
	heeded := first[Acted] + first[Read] + first[Waited]
	return heeded*4 > heeded+first[Unread] && 2*heeded*int64(members) >= others[Acted]+others[Waited], heeded+first[Unread] > 0
}

// childrenLock returns the form of sessions that wait in a line for their turn, and watch all of it.
func childrenLock(evidence string) observation.Form {
	return observation.Form{Name: "lock or election, children watch", Forms: []string{"lock/children-watch", "election/children-watch"},
		Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn, Evidence: evidence}
}

// unclear returns the form of sessions that may wait for their turn, or may want to know who is there.
func unclear(evidence string) observation.Form {
	return observation.Form{Name: "lock or group", Forms: []string{}, WaitFor: observation.Unknown, Evidence: evidence}
}

// comeAgain returns how many of the sessions have nodes in the group which they delete themselves and create again: they
// may wait for their turn, whatever their nodes are called, and 0 if fewer than two do. Of those that take turns the first ends its node,
// by whichever order, and of several that have a turn at once those of the first half. Members that register again do so in any order.
func comeAgain(nodes []*Pattern, watching client.Set) int {
	var creates, deletes int64
	var age, name Ends
	by, away := client.Set{}, client.Set{}
	for _, k := range nodes {
		for _, op := range []drivers.Op{drivers.OpCreate, drivers.OpSet} { // a put of etcd creates, too
			creates += k.Op(op).Requests - k.Op(op).Failed
			maps.Copy(by, k.Op(op).By)
		}
		deletes += k.Op(drivers.OpDelete).Requests - k.Op(drivers.OpDelete).Failed - k.DeletedByOthers + k.Revoked
		maps.Copy(away, k.Leavers)
		maps.Copy(away, k.Op(drivers.OpDelete).By)
		age.add(k.LeftByAge)
		name.add(k.LeftByName)
	}
	if age.mixed() && name.mixed() {
		return 0
	}
	again := 0
	for s := range by {
		if away[s] && watching[s] {
			again++
		}
	}
	if again < 2 || creates < 2*int64(by.Count()) || 2*deletes < creates {
		return 0
	}
	return again
}

// semaphore is a line in which several have their turn at once. No form of a lock would do in its place.
func (l lineGroup) semaphore(name, evidence string) observation.Form {
	return observation.Form{Name: name, Forms: []string{}, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("%s; %d of %d nodes were deleted by owners that waited no more though they had not seen them as the first", evidence, l.left.Behind, l.left.all())}
}

// woken returns the notifications of the line by their outcome: ZooKeeper's protocol names the node above it, etcd's what
// has changed in it.
func (l lineGroup) woken(at Standing) (n [outcomes]int64) {
	for _, p := range append([]*Pattern{l.dir}, l.kids...) {
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
		if k.Sequential() > 0 {
			first, later, creates = first+k.DeletedFirst, later+k.DeletedLater, creates+k.Op(drivers.OpCreate).Requests
			maps.Copy(by, k.Op(drivers.OpCreate).By)
		}
	}
	return first > outOfTurn*later && 2*first > creates && creates >= 2*int64(by.Count())
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
		if k.Sequential() > 0 {
			maps.Copy(candidates, k.Op(drivers.OpCreate).By)
		}
	}
	acknowledged := slices.ContainsFunc(l.kids, func(k *Pattern) bool {
		creates := k.Op(drivers.OpCreate)
		return k.Modes[drivers.Ephemeral] > 0 && creates.Lost == 0 && creates.By.IsSubsetOf(candidates)
	})
	lowest := l.ahead.Lowest > l.ahead.Next
	certain := l.ahead.Lowest+l.ahead.Next > 0
	evidence := fmt.Sprintf("each session watches the node ahead of its own in %s", l.dir.Name)
	lowestEvidence := fmt.Sprintf("all waiting sessions watch the first node in %s", l.dir.Name)
	switch {
	case l.shared && l.ahead.Lowest*10 > l.ahead.Next: // writers watch the node ahead in either form
		return observation.Form{Name: "shared lock, lowest writer", Forms: []string{"shared-lock/lowest-write"}, Instead: "nearest", Wakes: 1, WaitFor: observation.Turn, Evidence: lowestEvidence}
	case l.shared && !certain:
		return observation.Form{Name: "shared lock, nearest or lowest writer", Forms: []string{"shared-lock/nearest", "shared-lock/lowest-write"}, WaitFor: observation.Turn, Evidence: evidence}
	case l.shared:
		return observation.Form{Name: "shared lock, nearest", Forms: []string{"shared-lock/nearest"}, WaitFor: observation.Turn, Evidence: evidence}
	case lowest && l.left.severalAtOnce():
		return l.semaphore("semaphore, watch the first", lowestEvidence)
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

func (f Left) all() int64 { return f.First + f.Behind + f.Waiting }

func (f *Left) add(g Left) {
	f.First, f.Behind, f.Waiting, f.Free = f.First+g.First, f.Behind+g.Behind, f.Waiting+g.Waiting, f.Free+g.Free
}

// severalAtOnce reports whether sessions have their turn behind others: that of a lock comes only to the first.
func (f Left) severalAtOnce() bool { return f.Behind > 1 && 4*f.Behind >= f.all() }

// goOn reports whether most owners watched no more after their last list. A member of a group watches until it leaves.
func (f Left) goOn() bool { return 2*f.Free > f.all() }

func (a *Ahead) add(b Ahead) {
	a.Next += b.Next
	a.Only += b.Only
	a.Lowest += b.Lowest
	a.Other += b.Other
	a.Behind += b.Behind
	a.Own += b.Own
	a.None += b.None
	a.Missing += b.Missing
}

// transactions recognises nodes in which sessions vote.
func transactions(g group) (observation.Form, []*Pattern) {
	i := slices.IndexFunc(g.kids, func(k *Pattern) bool {
		sets := k.Op(drivers.OpSet) // each site votes once in a node of its own
		return sets.By.Count() > 1 && sets.Requests <= k.Places && k.watchedReads() > 0 && k.Sequential() == 0 && k.Places > 1
	})
	if i < 0 {
		return observation.Form{}, nil
	}
	site := g.kids[i]
	sites, readers := site.Op(drivers.OpSet).By.Count(), site.Op(drivers.OpGet).By.Count()
	switch {
	case readers > 1:
		return observation.Form{Name: "two-phase commit, all watch all", Forms: []string{"two-phase-commit/all-watch-all"}, Instead: "coordinator", Wakes: 1, WaitFor: observation.Votes,
			Evidence: fmt.Sprintf("%d sessions vote in a node each, and %d watch all votes", sites, readers)}, []*Pattern{site}
	case site.Modes[drivers.Ephemeral] > 0:
		return observation.Form{Name: "two-phase commit, coordinator, ephemeral sites", Forms: []string{"two-phase-commit/ephemeral-sites"}, WaitFor: observation.News,
			Evidence: fmt.Sprintf("%d sessions vote in an ephemeral node each, and one watches the votes", sites)}, []*Pattern{site, g.dir}
	}
	return observation.Form{Name: "two-phase commit, coordinator", Forms: []string{"two-phase-commit/coordinator"}, WaitFor: observation.News,
		Evidence: fmt.Sprintf("%d sessions vote in a node each, and one watches the votes", sites)}, []*Pattern{site, g.dir}
}

// racesBelow recognises one ephemeral node for which sessions race that watch the node above it.
func racesBelow(g group) (observation.Form, []*Pattern) {
	i := slices.IndexFunc(g.kids, func(k *Pattern) bool {
		return k.Places == 1 && k.Modes[drivers.Ephemeral] > 0 && k.Op(drivers.OpCreate).Lost > 0 && k.Watched() == 0
	})
	if watched, _ := g.dir.lists(); i < 0 || watched == 0 {
		return observation.Form{}, nil
	}
	node := g.kids[i]
	creates := node.Op(drivers.OpCreate)
	racers := g.dir.Op(drivers.OpChildren).By.Common(creates.By)
	if racers < 2 {
		return observation.Form{}, nil
	}
	return observation.Form{Name: "lock or election, one node, watched from above", Forms: []string{}, Instead: "predecessor", Wakes: 1, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("%d sessions watch the list of nodes and race to create %s: %d of %d creates failed", racers, node.Name, creates.Lost, creates.Requests)}, []*Pattern{g.dir, node}
}

// lists recognises a node whose children sessions watch and leave to others: they neither race to
// create them nor take them away.
func lists(g group) (observation.Form, []*Pattern) {
	if watched, _ := g.dir.lists(); watched == 0 || fanoutOf(g.dir).Max() < 2 || g.dir.maySignal() || (lineGroup{group: g}).takesTurns() { // one that waits may want its turn
		return observation.Form{}, nil
	}
	watching, created := g.dir.Op(drivers.OpChildren).By, client.Set{}
	for _, k := range g.kids {
		if g.locks(k) {
			return observation.Form{}, nil
		}
		takers := k.Takers.Common(watching)
		if k.Modes[drivers.Ephemeral] > 0 {
			takers = int(k.DeletedByOthers) // a member may remove its own node
		}
		if creates := k.Op(drivers.OpCreate); 2*creates.Lost > creates.Requests || takers > 1 {
			return observation.Form{}, nil
		}
		maps.Copy(created, k.Op(drivers.OpCreate).By)
	}
	if n := comeAgain(g.kids, watching); n > 0 {
		return unclear(fmt.Sprintf("%d sessions have a node and watch the list; they delete it and come again", n)), []*Pattern{g.dir}
	}
	members := watching.Common(created)
	name := "list of nodes, watched from outside"
	if 2*members >= watching.Count() {
		name = "group, children watch"
	}
	return newsOfList(name, watching.Count(), members), []*Pattern{g.dir}
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
func (p *Pattern) isNamedAs(o *Pattern) bool { return path.Base(p.Name) == path.Base(o.Name) }

// locks reports whether the nodes of the pattern have the names of a queue's items beside them, which they
// lock.
func (g group) locks(k *Pattern) bool {
	return slices.ContainsFunc(g.siblings, func(other group) bool {
		return slices.ContainsFunc(other.kids, func(item *Pattern) bool {
			return item.Sequential() > 0 && k.isNamedAs(item)
		})
	})
}

// trees recognises recursive watches.
func trees(g group) (observation.Form, []*Pattern) {
	w := g.dir.Op(drivers.OpWatchTree)
	if w.Requests == 0 {
		return observation.Form{}, nil
	}
	of := append([]*Pattern{g.dir}, g.below...)
	takers, readers := client.Set{}, client.Set{}
	for _, k := range g.below {
		maps.Copy(readers, k.Op(drivers.OpGet).By)
		maps.Copy(readers, k.Op(drivers.OpChildren).By)
		if k.Modes[drivers.Ephemeral] == 0 {
			maps.Copy(takers, k.Takers)
		}
	}
	if n := takers.Common(w.By); n > 1 {
		// Who cleans up, or drops what a cache holds, deletes too. If one was faster than others, it is a race.
		return observation.Form{Name: "queue or names", Forms: []string{}, WaitFor: observation.Unknown,
			Evidence: fmt.Sprintf("%d sessions keep a recursive watch on the node, and %d of them delete what is below it", w.By.Count(), n)}, of
	}
	if n := comeAgain(g.below, w.By); n > 0 {
		return unclear(fmt.Sprintf("%d sessions have a node and watch all below the node above; they delete it and come again", n)), of
	}
	f := observation.Form{Name: "names, recursive watch", Forms: []string{"names/recursive", "mirror/recursive"}, WaitFor: observation.News,
		Evidence: client.Say(w.By.Count(), "keeps", "keep") + " a recursive watch on the node"}
	if readers.Common(w.By) > 0 {
		f.Evidence += ", and " + client.Say(readers.Common(w.By), "reads", "read") + " what changes below it"
	}
	return f, of
}
