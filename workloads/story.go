package workloads

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A Step is one step of a settled run in a form for display: what the client did, which clients
// were woken, and which of them made progress or went back to sleep.
type Step struct {
	Client int    // the client that took the step, from 0
	Title  string // what it began to do, e.g. "arrives"
	Deeds  []Deed // what clients did during the step
}

// A Deed is what some clients did during a step. All of them did the same.
type Deed struct {
	Clients []int // from 0, ascending
	Did     string
}

// Who returns the numbers of the clients, counted from 1: "2" or "3–8" or "2, 5–7".
func (d Deed) Who() string {
	var parts []string
	for i := 0; i < len(d.Clients); {
		j := i
		for j+1 < len(d.Clients) && d.Clients[j+1] == d.Clients[j]+1 {
			j++
		}
		switch first, last := d.Clients[i]+1, d.Clients[j]+1; {
		case first == last:
			parts = append(parts, strconv.Itoa(first))
		case last == first+1:
			parts = append(parts, strconv.Itoa(first), strconv.Itoa(last))
		default:
			parts = append(parts, fmt.Sprintf("%d–%d", first, last))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// A teller records what one session does and passes each message on to the next probe.
type teller struct {
	next drivers.Probe

	mu      sync.Mutex
	telling bool
	deeds   []deed
}

// A deed is one message, kept until the step is reported.
type deed struct {
	op    drivers.Op
	path  string
	watch bool
	err   error
	event drivers.EventType
	made  string // the path of the node that a create made
}

// Message records the message.
func (t *teller) Message(m drivers.Message) {
	t.next.Message(m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.telling || !(m.Op.IsRead() || m.Op.IsWrite() || m.Op.IsWatch() || m.Kind == drivers.Notification) {
		return
	}
	switch m.Kind {
	case drivers.Request:
		t.deeds = append(t.deeds, deed{op: m.Op, path: string(m.Path), watch: m.Watch})
	case drivers.Reply:
		if d := t.last(); d != nil {
			d.err = m.Err
			if m.Op == drivers.OpCreate && m.Err == nil {
				d.made = string(m.Path)
			}
		}
	case drivers.Notification:
		t.deeds = append(t.deeds, deed{event: m.Event, path: string(m.Path)})
	}
}

// last returns the last request recorded.
func (t *teller) last() *deed {
	for i := len(t.deeds) - 1; i >= 0; i-- {
		if t.deeds[i].event == 0 {
			return &t.deeds[i]
		}
	}
	return nil
}

func (t *teller) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.telling = true
}

func (t *teller) take() []deed {
	t.mu.Lock()
	defer t.mu.Unlock()
	deeds := t.deeds
	t.deeds = nil
	return deeds
}

// tellStep records what happened in the step that has just come to rest.
func (st *Stage) tellStep() {
	if len(st.story) == 0 {
		return
	}
	step := &st.story[len(st.story)-1]
	all := make([][]deed, len(st.tellers))
	for i, t := range st.tellers {
		all[i] = t.take()
		for _, d := range all[i] {
			if d.made != "" && d.made != d.path { // the sequential name belongs to one client
				st.owners[d.made] = i
			}
		}
	}
	for i, deeds := range all {
		if len(deeds) == 0 {
			continue
		}
		step.add(i, st.words(i, deeds))
	}
}

// add groups clients that did the same, in the order of the first of each group.
func (s *Step) add(client int, did string) {
	i := slices.IndexFunc(s.Deeds, func(d Deed) bool { return d.Did == did })
	if i < 0 {
		s.Deeds = append(s.Deeds, Deed{Did: did})
		i = len(s.Deeds) - 1
	}
	s.Deeds[i].Clients = append(s.Deeds[i].Clients, client)
}

// words describes one client's deeds and how the step left it.
func (st *Stage) words(client int, deeds []deed) string {
	var words []string
	woken := false
	for _, d := range deeds {
		if d.event != 0 {
			woken = true
			words = append(words, "woken: "+change(d.event, st.name(client, d.path)))
			continue
		}
		w := d.op.String() + " " + st.name(client, d.path)
		if d.made != "" {
			w = "create " + st.name(client, d.made)
		}
		if d.op == drivers.OpChildren {
			w = "list"
		}
		if d.watch && !d.op.IsWatch() {
			w += " with watch"
		}
		if d.err != nil {
			w += fmt.Sprintf(" (%v)", d.err)
		}
		words = append(words, w)
	}
	switch busy, ended := st.takeAct(client); {
	case ended != "":
		words = append(words, ended)
	case busy && woken:
		words = append(words, "back to sleep")
	case busy:
		words = append(words, "sleep")
	}
	return strings.Join(words, " · ")
}

// change describes what happened to a node.
func change(e drivers.EventType, node string) string {
	if e == drivers.ChildrenChanged {
		return "children of " + node + " changed"
	}
	return node + " " + e.String()
}

// name returns a readable name for a node: by its owner, or its last element.
func (st *Stage) name(client int, path string) string {
	owner, ok := st.owners[path]
	switch {
	case ok && owner == client:
		return "its node"
	case ok:
		return fmt.Sprintf("%d's node", owner+1)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if guid, rest, ok := strings.Cut(last, "-"); ok && len(guid) == len(rand.Text()) {
		return rest // a node without an owner is named without its GUID
	}
	return last
}

// takeAct reports whether a client went to sleep in any step since the last call, and returns the
// description of a step that ended.
func (st *Stage) takeAct(client int) (busy bool, ended string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.acts = slices.DeleteFunc(st.acts, func(a *act) bool {
		mine := a.client == client
		if mine && a.ended && a.ends != "" {
			ended = a.ends
		}
		busy = busy || mine && st.sleepsAnew(a)
		return mine && a.ended
	})
	return busy, ended
}

// sleepsAnew reports whether a step that has not ended has moved since the last call. For a
// library form that is unknown, so it is assumed.
func (st *Stage) sleepsAnew(a *act) bool {
	_, moves := a.spot.Parked()
	anew := !a.told || moves != a.moves || st.crew.form.Family == Library
	a.told, a.moves = true, moves
	return anew && !a.ended
}
