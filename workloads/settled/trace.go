package settled

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A TraceStep is one step of a settled run in a form for display: what the client did, which clients
// were woken, and which of them made progress or went back to sleep.
type TraceStep struct {
	Client  int      // the client that took the step, from 0
	Title   string   // what it began to do, e.g. "arrives"
	Actions []Action // what clients did during the step
}

// A Action is what some clients did during a step. All of them did the same.
type Action struct {
	Clients []int // from 0, ascending
	Did     string
}

// Who returns the numbers of the clients, counted from 1: "2" or "3–8" or "2, 5–7".
func (d Action) Who() string {
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

// A tracer records what one session does and passes each message on to the next probe.
type tracer struct {
	next drivers.Probe

	mu       sync.Mutex
	tracing  bool
	messages []message
}

// A message is one message, kept until the step is reported.
type message struct {
	op      drivers.Op
	path    string
	watch   bool
	err     error
	event   drivers.EventType
	created string // the path of the node that a create made
}

// Message records the message.
func (t *tracer) Message(m drivers.Message) {
	t.next.Message(m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.tracing || !(opens(m) || m.Op.IsRead() || m.Op.IsWrite() || m.Op.IsWatch() || m.Kind == drivers.Notification) {
		return
	}
	switch m.Kind {
	case drivers.Request:
		t.messages = append(t.messages, message{op: m.Op, path: string(m.Path), watch: m.Watch})
	case drivers.Reply:
		if d := t.last(); d != nil {
			d.err = m.Err
			if m.Op == drivers.OpCreate && m.Err == nil {
				d.created = string(m.Path)
			}
		}
	case drivers.Notification:
		t.messages = append(t.messages, message{event: m.Event, path: string(m.Path)})
	}
}

// opens reports whether the message is the request to open a session.
func opens(m drivers.Message) bool { return m.Op == drivers.OpOpen && m.Kind == drivers.Request }

// last returns the last request recorded.
func (t *tracer) last() *message {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].event == 0 {
			return &t.messages[i]
		}
	}
	return nil
}

func (t *tracer) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracing = true
}

func (t *tracer) take() []message {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages := t.messages
	t.messages = nil
	return messages
}

// traceStep records what happened in the step that has just settled.
func (st *Stepper) traceStep() {
	if len(st.trace) == 0 {
		return
	}
	step := &st.trace[len(st.trace)-1]
	all := make([][]message, len(st.tracers))
	for i, t := range st.tracers {
		all[i] = t.take()
		for _, d := range all[i] {
			if d.created != "" && d.created != d.path { // the sequential name belongs to one client
				st.owners[d.created] = i
			}
		}
	}
	for i, messages := range all {
		if len(messages) == 0 {
			continue
		}
		step.add(i, st.describe(i, messages))
	}
}

// add groups clients that did the same, in the order of the first of each group.
func (s *TraceStep) add(client int, did string) {
	i := slices.IndexFunc(s.Actions, func(d Action) bool { return d.Did == did })
	if i < 0 {
		s.Actions = append(s.Actions, Action{Did: did})
		i = len(s.Actions) - 1
	}
	s.Actions[i].Clients = append(s.Actions[i].Clients, client)
}

// describe describes one client's messages and how the step left it.
func (st *Stepper) describe(client int, messages []message) string {
	var words []string
	woken := false
	for _, d := range messages {
		if d.event != 0 {
			woken = true
			words = append(words, "woken: "+change(d.event, st.name(client, d.path)))
			continue
		}
		w := d.op.String() + " " + st.name(client, d.path)
		if d.created != "" {
			w = "create " + st.name(client, d.created)
		}
		switch d.op {
		case drivers.OpChildren:
			w = "list"
		case drivers.OpOpen:
			w = "open a session"
		}
		if d.watch && !d.op.IsWatch() {
			w += " with watch"
		}
		if d.err != nil {
			w += fmt.Sprintf(" (%v)", d.err)
		}
		words = append(words, w)
	}
	switch busy, ended := st.endSteps(client); {
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
func (st *Stepper) name(client int, path string) string {
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

// endSteps reports whether a client went to sleep in any step since the last call, and returns the
// description of a step that ended.
func (st *Stepper) endSteps(client int) (busy bool, ended string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.steps = slices.DeleteFunc(st.steps, func(a *activeStep) bool {
		mine := a.client == client
		if mine && a.ended && a.outcome != "" {
			ended = a.outcome
		}
		busy = busy || mine && st.sleepsAgain(a)
		return mine && a.ended
	})
	return busy, ended
}

// sleepsAgain reports whether a step that has not ended has moved since the last call. For a
// library form that is unknown, so it is assumed.
func (st *Stepper) sleepsAgain(a *activeStep) bool {
	_, moves := a.spot.Parked()
	anew := !a.reported || moves != a.changes || st.pool.Form.Family == workloads.Library
	a.reported, a.changes = true, moves
	return anew && !a.ended
}
