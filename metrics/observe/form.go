package observe

import (
	"fmt"
	"maps"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
)

// A Form is what was recognised at a place.
type Form struct {
	// Name says it in words, e.g. "lock or election, one node".
	Name string `json:"name"`
	// Forms are the forms of the catalogue with which the traffic agrees. Several mean that their
	// traffic is the same, or that it was in what was observed.
	Forms []string `json:"forms"`
	// Herd reports that changes wake several sessions, of which most wait again or lose. It follows
	// from the counts of the place, whatever the form is.
	Herd bool `json:"herd"`
	// Most is how many sessions a change wakes at most, if that does not depend on the number of clients; 0
	// otherwise.
	Most int64 `json:"most_woken,omitempty"`
	// Instead is the form that would wake fewer, and Wakes how many a change would wake then; ""
	// if there is none.
	Instead string `json:"instead,omitempty"`
	Wakes   int64  `json:"instead_wakes,omitempty"`
	// Evidence says in words what the form was recognised by.
	Evidence string `json:"evidence"`

	kind kind
	over bool // the place has the name of its first pattern: a recursive watch is on that
}

// A kind says which notifications of a form are useful.
type kind int

const (
	unknown kind = iota
	turns        // sessions wait for their turn: useful is the notification that leads to it
	items        // consumers wait for an item, or clients for a node
	meets        // clients wait for each other, to enter and to leave
	votes        // sites that have voted wait for the others' votes
	news         // each session wants to know of each change
)

// useful splits the notifications into those that were useful and those that were wasted. It
// leaves out those of sessions that waited for nothing.
func (k kind) useful(p *pattern) (useful, wasted int64, known bool) {
	switch k {
	case unknown:
		return 0, 0, false
	case votes:
		w := p.woken[voted]
		return w[acted] + w[read], w[waited], true
	case news:
		for _, w := range p.woken {
			useful += w[acted] + w[read] + w[waited] + w[unread]
		}
		return useful, 0, true
	}
	counted := []standing{waiting}
	switch k {
	case items:
		counted = []standing{waiting, outside}
	case meets:
		counted = []standing{waiting, turned, leaving}
	}
	for _, standing := range counted {
		w := p.woken[standing]
		useful += w[acted] + w[read]
		wasted += w[waited]
	}
	return useful, wasted, true
}

// A group is a node with the patterns below it, as the rules see it.
type group struct {
	dir      *pattern
	kids     []*pattern
	siblings []group    // the other nodes below the same one
	below    []*pattern // what a recursive watch of the node covers
}

// recognise returns the form at the group, and the patterns whose notifications belong to it.
func (g group) recognise() (Form, []*pattern) {
	for _, rule := range []func(group) (Form, []*pattern){queues, lines, meetings, transactions, racesBelow, lists, trees} {
		if f, of := rule(g); f.Name != "" {
			return f, of
		}
	}
	return Form{}, nil
}

// recogniseNode returns the form of a single node.
func recogniseNode(p *pattern) Form {
	for _, rule := range []func(*pattern) Form{races, barriers, values} {
		if f := rule(p); f.Name != "" {
			return f
		}
	}
	return Form{}
}

func (p *pattern) op(op drivers.Op) *opCounts { return &p.ops[op] }

// armed returns how many reads asked for a watch on the node itself, and lists how many of its
// children were listed, with and without a watch.
func (p *pattern) armed() int64 { return p.op(drivers.OpExists).watched + p.op(drivers.OpGet).watched }

// watched returns how many watches on the node itself were armed, by reads or by themselves.
func (p *pattern) watched() int64 { return p.armed() + p.op(drivers.OpWatchNode).requests }

func (p *pattern) lists() (watched, plain int64) {
	o := p.op(drivers.OpChildren)
	return o.watched, o.requests - o.watched
}

// pollers returns how many sessions repeat reads by one of the operations, 0 if most sessions that read do not,
// or if none does so more than once: a client may look twice.
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

// contended reports whether sessions watch a single node and race to create it: an ephemeral one, or
// one that those who create it delete again.
func (p *pattern) contended() bool {
	creates := p.op(drivers.OpCreate)
	passes := p.modes[drivers.Ephemeral] > 0 || p.op(drivers.OpWatchNode).requests > 0 && p.op(drivers.OpDelete).by.Common(creates.by) > 1
	return passes && p.places == 1 && creates.lost > 0 && (p.watched() > 0 || p.tree != nil)
}

// races recognises one ephemeral node for which sessions race.
func races(p *pattern) Form {
	creates, pollers := p.op(drivers.OpCreate), max(p.op(drivers.OpExists).again.Count(), p.op(drivers.OpGet).again.Count())
	switch {
	case p.modes[drivers.Ephemeral] == 0 && !p.contended():
		return Form{}
	case !p.contended() && p.watched() == 0 && pollers > 0 && creates.by.Count() > 1 && p.places == 1:
		return Form{Name: "election or lock, polled node", Forms: []string{"election/poll"}, Instead: "predecessor", Wakes: 1, kind: turns,
			Evidence: fmt.Sprintf("%d sessions repeatedly ask whether the node exists, and create it if not", pollers)}
	case !p.contended():
		return Form{}
	}
	watching := client.Set{}
	maps.Copy(watching, p.watchers)
	if p.tree != nil {
		maps.Copy(watching, p.tree.op(drivers.OpWatchTree).by)
	}
	return Form{
		Name: "lock or election, one node", Forms: []string{"lock/one-node", "election/one-node"}, Instead: "predecessor", Wakes: 1, kind: turns,
		Evidence: fmt.Sprintf("%d sessions watch the node and race to create it: %d of %d creates failed", watching.Count(), creates.lost, creates.requests),
	}
}

// barriers recognises a node for whose end sessions wait.
func barriers(p *pattern) Form {
	e, pollers := p.op(drivers.OpExists), p.pollers(drivers.OpExists)
	if p.modes[drivers.Ephemeral]+p.sequential() > 0 || p.op(drivers.OpSet).requests > 0 || e.requests == 0 {
		return Form{}
	}
	switch {
	case e.watched > 0 && p.events[drivers.Deleted] > 0:
		return Form{Name: "barrier, watch", Forms: []string{"barrier/watch"}, kind: news,
			Evidence: fmt.Sprintf("%d sessions watch the node until it is deleted, and then go on", p.watchers.Count())}
	case e.watched == 0 && pollers > 0 && p.op(drivers.OpDelete).requests > 0:
		return Form{Name: "barrier, polled", Forms: []string{"barrier/poll"}, Instead: "watch", kind: items,
			Evidence: fmt.Sprintf("%d sessions repeatedly ask whether the node exists", pollers)}
	}
	return Form{}
}

// values recognises nodes whose data sessions follow. The node of a line is none: etcd's clients read
// it to see that it exists.
func values(p *pattern) Form {
	g, pollers := p.op(drivers.OpGet), p.pollers(drivers.OpGet)
	if p.lined || p.op(drivers.OpSet).requests == 0 && p.op(drivers.OpWatchNode).requests == 0 && pollers == 0 || g.requests == 0 {
		return Form{}
	}
	many := p.places > 1
	form := func(name, config, names, evidence string) Form {
		f := Form{Name: name, Forms: []string{"config/" + config}, kind: news, Evidence: evidence}
		if many {
			f.Name, f.Forms = strings.Replace(name, "value", "names", 1), []string{"names/" + names}
		}
		return f
	}
	switch {
	case p.op(drivers.OpWatchNode).requests > 0:
		f := form("value, persistent watch", "persistent", "persistent", fmt.Sprintf("%d sessions keep a persistent watch on the node", p.op(drivers.OpWatchNode).by.Count()))
		f.Forms = []string{"config/persistent", "fanout/persistent"}
		return f
	case g.watched > 0:
		f := form("value, watched", "watch", "cached", fmt.Sprintf("%d sessions read the data with a watch, and again after each change", p.watchers.Count()))
		if !many {
			f.Forms = append(f.Forms, "fanout/one-shot", "names/cached")
		}
		return f
	case pollers > 0:
		f := form("value, polled", "poll", "lookup", fmt.Sprintf("%d sessions repeatedly read the data without a watch", pollers))
		f.Instead = "watch"
		return f
	}
	return Form{}
}
