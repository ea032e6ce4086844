package recipes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestPriorityLockUnderEverySchedule checks the protocol of the priority lock by visiting every
// state that a few clients can reach: each takes a turn, as a reader or a writer of either of two
// priorities, one operation at a time in any order, and any of them may leave at any time. The
// decisions are those of the code; the operations are those of the service.
func TestPriorityLockUnderEverySchedule(t *testing.T) {
	states := 0
	for _, crew := range crews(3, 1) {
		states += visit(t, crew, soundProtocol)
	}
	for _, crew := range crews(2, 2) {
		states += visit(t, crew, soundProtocol)
	}
	if !testing.Short() {
		for _, crew := range []string{"1w 0w 1w 0w", "1r 1r 0w 0r"} {
			states += visit(t, newModel(strings.Fields(crew), 1), soundProtocol)
		}
	}
	t.Logf("%d states", states)
}

// TestFlawsOfPriorityLocksAreFound checks that the visit finds what is wrong with protocols that
// lack one idea of the right one.
func TestFlawsOfPriorityLocksAreFound(t *testing.T) {
	for flaw, want := range map[protocol]string{
		ignoresVersions:     "hold at the same time",
		listsFirst:          "hold at the same time",
		sleepsUnseeing:      "waits for ever",
		ignoresPriorities:   "passes",
		ignoresThoseWaiting: "passes",
		sleepsDeaf:          "waits for ever",
	} {
		found := ""
		for _, crew := range crews(3, 1) {
			if found = explore(crew, flaw, map[model]bool{}); found != "" {
				break
			}
		}
		if !strings.Contains(found, want) {
			t.Errorf("flaw %d: found %q, want %q", flaw, found, want)
		}
	}
}

// A protocol is the right one, or one with a flaw.
type protocol int

const (
	soundProtocol       protocol = iota
	ignoresVersions              // writes the holders whatever they are by then
	listsFirst                   // lists the line before it reads the holders
	sleepsUnseeing               // sleeps although the node that it watches is gone
	ignoresPriorities            // serves in the order of arrival
	ignoresThoseWaiting          // waits for holders only
	sleepsDeaf                   // does not watch its own node
)

// A model is the state of the service and of its clients.
type model struct {
	clients [4]modelClient
	number  int // of clients
	created int64
	holders string // the data of the lock's node
	version int32
}

// A modelClient is a client that takes turns.
type modelClient struct {
	next     modelStep
	turns    int
	priority byte
	writes   bool
	seq      int64 // of its node; 0 if there is none
	// What it has read and decided.
	holders string
	version int32
	line    [4]int64 // the clients' nodes
	write   string
	tells   [4]bool // to which clients' nodes it will write
	told    [4]bool
	arrived bool // it has looked behind itself
	waitFor int
	waitSeq int64
	armed   bool // its watch on its own node
	// ahead is set once a holder, and aheadOfReaders once a writer, has left while the client waited.
	ahead, aheadOfReaders bool
}

type modelStep int

const (
	modelCreates modelStep = iota
	modelListens
	modelLooks
	modelLooksAgain
	modelClaims
	modelTells
	modelWatches
	modelSleeps
	modelHolds
	modelGone
)

// crews returns the models of n clients for all their sides and priorities. The order of the clients
// does not matter.
func crews(n, turns int) (all []model) {
	kinds := []string{"0r", "0w", "1r", "1w"}
	for code := range 1 << (2 * n) {
		crew := make([]string, n)
		for i := range crew {
			crew[i] = kinds[code>>(2*i)&3]
		}
		if slices.IsSorted(crew) {
			all = append(all, newModel(crew, turns))
		}
	}
	return all
}

func newModel(crew []string, turns int) model {
	m := model{number: len(crew)}
	for i := range m.clients {
		m.clients[i] = modelClient{next: modelGone}
	}
	for i, kind := range crew {
		m.clients[i] = modelClient{turns: turns, priority: kind[0], writes: kind[1] == 'w'}
	}
	return m
}

func visit(t *testing.T, m model, p protocol) (states int) {
	t.Helper()
	seen := map[model]bool{}
	if found := explore(m, p, seen); found != "" {
		t.Errorf("%d clients: %s", m.number, found)
	}
	return len(seen)
}

// explore visits all states that follow and are not seen yet, and returns what is wrong with the
// first that is wrong.
func explore(m model, p protocol, seen map[model]bool) (wrong string) {
	if seen[m] {
		return ""
	}
	seen[m] = true
	moves, waits := 0, ""
	for i := range m.number {
		switch c := m.clients[i]; c.next {
		case modelGone:
			continue
		case modelSleeps:
			waits = fmt.Sprintf("client %d waits for ever", i+1)
		default:
			moves++
			after := m
			if wrong = after.move(i, p); wrong == "" {
				wrong = after.overlap()
			}
			if wrong == "" {
				wrong = explore(after, p, seen)
			}
		}
		if wrong == "" && m.clients[i].seq != 0 { // it gives up, or its session ends
			after := m
			after.leave(i)
			after.clients[i] = modelClient{next: modelGone}
			wrong = explore(after, p, seen)
		}
		if wrong != "" {
			return wrong
		}
	}
	if moves == 0 {
		return waits
	}
	return ""
}

// overlap returns the clients that hold the lock and exclude each other.
func (m *model) overlap() string {
	for i, a := range m.clients {
		for j, b := range m.clients[:i] {
			if a.next == modelHolds && b.next == modelHolds && a.excludes(b) {
				return fmt.Sprintf("clients %d and %d hold at the same time", j+1, i+1)
			}
		}
	}
	return ""
}

// listens reports whether the client watches its own node while it waits.
func (c modelClient) listens(p protocol) bool { return !c.writes && p != sleepsDeaf }

func (c modelClient) excludes(o modelClient) bool { return c.writes || o.writes }

// move has the client do its next operation, and returns what is wrong with it.
func (m *model) move(i int, p protocol) (wrong string) {
	c := &m.clients[i]
	switch c.next {
	case modelCreates:
		m.created++
		if c.seq, c.next = m.created, modelLooks; c.listens(p) {
			c.next = modelListens
		}
	case modelListens:
		c.armed, c.next = true, modelLooks
	case modelLooks, modelLooksAgain:
		if (c.next == modelLooks) == (p != listsFirst) {
			c.holders, c.version = m.holders, m.version
		} else {
			for j, o := range m.clients {
				c.line[j] = o.seq
			}
		}
		if c.next++; c.next > modelLooksAgain {
			m.decide(i, p)
			c.holders, c.line = "", [4]int64{}
		}
	case modelClaims:
		c.next = modelLooks
		if m.version == c.version || p == ignoresVersions {
			before := m.holders
			m.holders, c.next = c.write, modelHolds
			m.version++
			wrong = m.passed(before)
		}
		c.write = ""
	case modelTells:
		j := slices.Index(c.tells[:], true)
		c.tells[j], c.told[j] = false, true
		m.fire(m.clients[j].seq)
		if o := &m.clients[j]; o.armed {
			if o.armed = false; o.next == modelSleeps {
				o.next = modelListens
			}
		}
		if !slices.Contains(c.tells[:], true) {
			c.next = modelWatches
		}
	case modelWatches:
		switch {
		case p != sleepsUnseeing && m.clients[c.waitFor].seq != c.waitSeq:
			c.next = modelLooks
		case c.listens(p) && !c.armed:
			c.next = modelListens
		default:
			c.next = modelSleeps
		}
	case modelHolds:
		turns := c.turns - 1
		m.leave(i)
		*c = modelClient{next: modelGone}
		if turns > 0 {
			was := newModel([]string{"0r"}, turns).clients[0]
			was.priority, was.writes = c.priority, c.writes
			*c = was
		}
	}
	return wrong
}

// decide has the client decide by what it has read.
func (m *model) decide(i int, p protocol) {
	c := &m.clients[i]
	var nodes []drivers.Child
	for j, seq := range c.line {
		if seq != 0 {
			nodes = append(nodes, drivers.Child{Name: m.clients[j].name(j, p), Seq: seq})
		}
	}
	line, err := newPriorityLine(nodes, c.holders, c.version, c.name(i, p))
	if err != nil {
		panic(err) // a client in the model that has lost its node is gone
	}
	index := func(name string) int { return int(name[0] - 'A') }
	ahead := line.ahead()
	if p == ignoresThoseWaiting {
		ahead = min(ahead, line.holders-1)
	}
	if line.mine < line.holders || ahead < 0 {
		if c.next = modelHolds; line.mine >= line.holders {
			c.write, c.next = line.next(), modelClaims
			if p == ignoresThoseWaiting {
				c.write = fmt.Sprint(c.seq)
			}
		}
		return
	}
	if behind := line.mine + 1; !c.arrived && behind < len(line.nodes) && writes(line.nodes[behind]) {
		c.tells[index(line.nodes[line.mine-1].Name)] = true
	}
	c.arrived = true
	for _, holder := range line.outranked() {
		c.tells[index(holder)] = !c.told[index(holder)]
	}
	c.waitFor, c.next = index(line.nodes[ahead].Name), modelWatches
	c.waitSeq = c.line[c.waitFor]
	if slices.Contains(c.tells[:], true) {
		c.next = modelTells
	}
}

// name returns the name of the client's node.
func (c modelClient) name(i int, p protocol) string {
	priority, side := c.priority, "read"
	if c.writes {
		side = "write"
	}
	if p == ignoresPriorities {
		priority = '0'
	}
	return fmt.Sprintf("%c-%c-%s-", 'A'+i, priority, side)
}

// leave deletes the client's node.
func (m *model) leave(i int) {
	left := m.clients[i]
	m.clients[i].seq = 0
	m.fire(left.seq)
	if !names(m.holders, left.seq) {
		return
	}
	for j := range m.clients {
		if o := &m.clients[j]; o.seq != 0 && !names(m.holders, o.seq) {
			o.ahead, o.aheadOfReaders = true, o.aheadOfReaders || left.writes
		}
	}
}

// fire wakes the clients that watch the node.
func (m *model) fire(seq int64) {
	for j := range m.clients {
		if o := &m.clients[j]; o.next == modelSleeps && o.waitSeq == seq {
			o.next = modelLooks
		}
	}
}

// passed returns who has been passed against the promise by those that the last write has let in.
func (m *model) passed(before string) string {
	for i, in := range m.clients {
		if in.seq == 0 || !names(m.holders, in.seq) || names(before, in.seq) {
			continue
		}
		for j, o := range m.clients {
			if o.seq == 0 || names(m.holders, o.seq) || !in.excludes(o) {
				continue
			}
			first := o.seq < in.seq && o.priority <= in.priority
			urgent := o.priority < in.priority && (o.ahead && in.writes || o.aheadOfReaders)
			if first || urgent {
				return fmt.Sprintf("client %d passes client %d", i+1, j+1)
			}
		}
	}
	return ""
}

// names reports whether the holders have the number.
func names(holders string, seq int64) bool {
	return slices.Contains(strings.Fields(holders), fmt.Sprint(seq))
}
