package pattern

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A Role is what one session did after notifications at nodes of a pattern which concern no line and no vote in which it takes
// part: one that tries to get what they offer races for it, and loses by each that does not lead to that. Others follow.
type Role struct {
	woken, further [outcomes]int64
	own            [outcomes]int64 // of changes that it made itself
	won            int64           // notifications after which it got what they offer
	ownWon         int64           // those of them of its own changes
	tried          bool
}

// RoleOf returns the role of a session at nodes of the pattern. Those beyond MaxSessions share one.
func (p *Pattern) RoleOf(s *client.Session) *Role {
	if p.roles == nil {
		p.roles = map[*client.Session]*Role{}
	}
	if len(p.roles) >= MaxSessions && p.roles[s] == nil {
		s = nil
	}
	if p.roles[s] == nil {
		p.roles[s] = &Role{}
	}
	return p.roles[s]
}

// Add adds a notification: what came of it, whether it came by a lasting watch that had fired before, and whether the session
// tried to get what it offers, and got it.
func (r *Role) Add(o Outcome, further, tried, won bool) {
	r.woken[o]++
	if further {
		r.further[o]++
	}
	if r.tried = r.tried || tried; won {
		r.won++
	}
}

// Gets records that the session got what a notification offered of which another outcome was counted.
func (r *Role) Gets(p *Pattern, counted Outcome, own bool) {
	r.won++
	if own {
		r.own[counted]--
		r.Own(Acted, true)
	}
	r.woken[counted]--
	r.woken[Acted]++
	p.Woken[Apart][counted]--
	p.Woken[Apart][Acted]++
}

// Own records that the session made the change itself of which a notification told it. It needs no notification to go on then, and has
// lost nothing by it.
func (r *Role) Own(o Outcome, won bool) {
	if r.own[o]++; won {
		r.ownWon++
	}
}

// A race is what sessions that notifications had woken did to get nodes of one pattern.
type race struct {
	by   client.Set // sessions that won one which others lost, or lost one
	lost int64      // notifications that led to nothing else: the session tried once, and one that was woken too was first
	won  int64      // notifications after which a session won one
}

// raceFor returns what sessions did after notifications at the pattern to get nodes of another one.
func (p *Pattern) raceFor(node *Pattern) *race {
	if p.races == nil {
		p.races = map[*Pattern]*race{}
	}
	r := p.races[node]
	if r == nil {
		r = &race{}
		p.races[node] = r
	}
	return r
}

// Tried counts a try to win a node of the pattern, by whether a notification came before it.
func (p *Pattern) Tried(told bool) {
	if told {
		p.prompted++
	} else {
		p.unprompted++
	}
}

// Outdone counts notifications after which a session has lost a race for a node of the other pattern.
func (p *Pattern) Outdone(raced *Pattern, by *client.Session, times int64) {
	r := p.raceFor(raced)
	r.lost += times
	AddTo(&r.by, by)
}

// Outdid counts a notification after which its session has won a race that others lost.
func (p *Pattern) Outdid(raced *Pattern, by *client.Session) {
	r := p.raceFor(raced)
	r.won++
	AddTo(&r.by, by)
}

// LosesBeside counts races that sessions lost which watch nothing, just after other sessions of the same process or host were
// notified at the pattern that write nothing: both may be one client.
func (p *Pattern) LosesBeside(times int64) { p.beside += times }

// besideShare is for how many notifications at most a race must be lost beside them that they may have led to it. Two clients that
// race lose one for each item, of which each is told when it comes and when it is gone: one for four. Of twice as many, some may be of
// clients that do not race. What is rarer is chance: a node was there already.
const besideShare = 8

// mayRace returns how many races were lost beside the notifications at the patterns, 0 if few were.
func mayRace(of []*Pattern) int64 {
	var lost, told int64
	for _, p := range of {
		lost, told = lost+p.beside, told+p.notifications()
	}
	if besideShare*lost < told {
		return 0
	}
	return lost
}

// MaybeOutdone counts a notification after which its session may have lost a race.
func (p *Pattern) MaybeOutdone() { p.unclear++ }

// promptedShare is how many tries to win a node must come after a notification for each that comes without. Sessions that try by a
// clock of their own come after one by chance: as often as without, if the latest is less than causality.Patience ago half of the time.
const promptedShare = 2

// outdone returns how many notifications at the pattern were a signal for a race that the session lost, for nodes elsewhere that
// nobody watches. Sessions that race as often without a signal do so by a clock of their own, and a node that stays and is created
// once is one that they make sure of.
func (p *Pattern) outdone() (n int64) {
	staying := map[*Pattern]int64{} // wins of nodes that stay, by the pattern above
	for node, r := range p.races {
		if node.stays() {
			staying[node.Parent] += r.won
		}
	}
	for node, r := range p.races {
		if node != p && !node.isBelow(p) && node.prompted >= promptedShare*node.unprompted && node.Watched() == 0 && (!node.stays() || staying[node.Parent] > 1) {
			n += r.lost
		}
	}
	return n
}

// stays reports whether all nodes of the pattern that sessions asked to create are persistent.
func (p *Pattern) stays() bool { return p.Modes[0] > 0 && p.Modes[drivers.Ephemeral] == 0 }

// signals reports whether most notifications at the pattern were a signal to race for another node, and maySignal
// whether they may have been.
func (p *Pattern) signals() bool { return 2*p.outdone() > p.notifications() }
func (p *Pattern) maySignal() bool {
	return !p.signals() && 2*(p.outdone()+p.unclear) > p.notifications()
}

// signals recognises a node whose changes make sessions race for another node, which they do not watch.
func signals(p *Pattern) observation.Form {
	if !p.signals() {
		return observation.Form{}
	}
	return observation.Form{Name: "signal before a race", Forms: []string{}, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("after %d of %d notifications the session tried once to write a node, lost to another one that was woken too, and waited for the next",
			p.outdone(), p.notifications())}
}

// signalsBelow recognises a node whose changed list makes sessions race for other nodes.
func signalsBelow(g group) (observation.Form, []*Pattern) { return signals(g.dir), []*Pattern{g.dir} }

// racers are sessions that race for what others get first.
type racers map[*client.Session]bool

func (r racers) add(s client.Set) {
	for one := range s {
		r[one.Unit()] = true
	}
}

func (r racers) has(s *client.Session) bool { return s != nil && r[s.Unit()] }

// waitingForTurns returns the sessions that tried to get what notifications at the patterns offer, or at others below the
// same recursive watch.
func waitingForTurns(of []*Pattern) racers {
	all := racers{}
	for _, p := range of {
		at := []*Pattern{p}
		if p.tree != nil && slices.Contains(p.tree.raced, p) {
			at = p.tree.raced
		}
		for _, q := range at {
			for s, r := range q.roles {
				if r.tried && s != nil {
					all[s.Unit()] = true
				}
			}
		}
	}
	return all
}

// A contest is a race of sessions for nodes of a place whose notifications wake them.
type contest struct {
	racers
	raced []*Pattern
}

// contestIn returns the race for nodes at the patterns or below them that belong to no other place.
func contestIn(of []*Pattern) (c contest) {
	c.racers = racers{}
	for _, p := range of {
		for raced, r := range p.races {
			if !slices.Contains(of, raced) && (raced.contended() || !slices.ContainsFunc(of, raced.isBelow)) {
				continue
			}
			if r.lost == 0 || r.lost < r.won { // who is first leaves one behind at least, unless those go on until they succeed
				continue
			}
			if c.racers.add(r.by); !slices.Contains(c.raced, raced) {
				c.raced = append(c.raced, raced)
			}
		}
	}
	return c
}

func (p *Pattern) isBelow(other *Pattern) bool {
	for up := p.Parent; up != nil; up = up.Parent {
		if up == other {
			return true
		}
	}
	return false
}

// form returns the form of a place whose sessions race for its nodes.
func (c contest) form() observation.Form {
	f := observation.Form{Forms: []string{}, WaitFor: observation.Turn}
	var creates, sets, deletes Counts
	for _, p := range c.raced {
		creates.add(p.Op(drivers.OpCreate))
		sets.add(p.Op(drivers.OpSet))
		deletes.add(p.Op(drivers.OpDelete))
	}
	what := ""
	switch {
	case deletes.Failed >= max(creates.Failed, sets.Failed):
		f.Name, f.Forms, f.Instead, f.Wakes, f.WaitFor = "queue, all consumers watch", []string{"queue/cached-list", "queue/relist"}, "one-watcher", 1, observation.Item
		what = fmt.Sprintf("delete what is there: %d of %d deletes", deletes.Failed, deletes.Requests)
	case sets.Failed > creates.Failed:
		f.Name, f.Instead, f.Wakes = "lock or election, one node, set by version", "predecessor", 1
		what = fmt.Sprintf("set the node: %d of %d sets", sets.Failed, sets.Requests)
	default:
		f.Name = "race for nodes, all watch"
		what = fmt.Sprintf("create a node: %d of %d creates", creates.Failed, creates.Requests)
	}
	f.Evidence = fmt.Sprintf("%d of the sessions that a change wakes race to %s failed", len(c.racers), what)
	return f
}

func (c *Counts) add(o *Counts) {
	c.Requests, c.Failed = c.Requests+o.Requests, c.Failed+o.Failed
}

// split divides the notifications of sessions that take no part in a line: those of racers were useful if they led to what the
// session wanted, those of others always. Those of a session's own changes are neither.
func (p *Pattern) split(by racers) (useful, wasted int64) {
	once := p.spendsWatches()
	for s, r := range p.roles {
		var all int64
		for o, n := range r.woken {
			if by.has(s) && Outcome(o) == Unread {
				continue
			}
			if n -= r.own[o]; once {
				n -= r.further[o]
			}
			all += max(0, n)
		}
		if !by.has(s) {
			useful += all
			continue
		}
		won := r.won - r.ownWon
		useful, wasted = useful+won, wasted+max(0, all-won)
	}
	return useful, wasted
}

// ofOwnChanges returns the notifications at the patterns that split leaves out, since sessions got them of their own changes.
func ofOwnChanges(of []*Pattern) (n int64) {
	for _, p := range of {
		for _, r := range p.roles {
			for o := range r.own {
				n += r.own[o]
			}
		}
	}
	return n
}

// followers returns how many sessions were notified at the patterns and race for nothing.
func followers(of []*Pattern, by racers) int {
	all := client.Set{}
	for _, p := range of {
		for s := range p.roles {
			if s != nil && !by.has(s) {
				all.Add(s)
			}
		}
	}
	return all.Count()
}

// shares returns the notifications at the patterns by what they were worth to sessions of which some race.
func (c contest) shares(of []*Pattern) (useful, wasted int64) {
	for _, p := range of {
		u, w := p.split(c.racers)
		useful, wasted = useful+u, wasted+w
		for standing, n := range p.outcomes() {
			if Standing(standing) != Apart {
				useful += n[Acted] + n[Read] + n[Waited]
			}
		}
	}
	return useful, wasted
}
