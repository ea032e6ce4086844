package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// Parse parses one fault, such as "at=10s kill leader, restart after=5s". The error is one line
// that names the valid choice.
func Parse(text string) (Fault, error) {
	var f Fault
	for i, part := range strings.Split(text, ",") {
		c := clause{words: strings.Fields(part)}
		var err error
		if i == 0 {
			err = f.first(&c)
		} else {
			err = f.next(&c)
		}
		if err == nil {
			err = c.rest()
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	return f, nil
}

// first parses the first step with its time and target.
func (f *Fault) first(c *clause) (err error) {
	if f.At, err = c.duration("at", true); err != nil {
		return err
	}
	step, err := c.step()
	if err != nil {
		return err
	}
	d, _ := find(step.Verb)
	if f.Target, err = c.target(d); err != nil {
		return err
	}
	f.Steps = []FaultAction{step}
	if !c.has("for") {
		return nil
	}
	if d.undone == "" {
		return fmt.Errorf("%s takes no for=: it is over at once", d.verb)
	}
	undo := FaultAction{Verb: d.undone}
	undo.After, err = c.duration("for", false)
	f.Steps = append(f.Steps, undo)
	return err
}

// next parses a later step on the same target.
func (f *Fault) next(c *clause) (err error) {
	after, err := c.duration("after", false)
	if err != nil {
		return err
	}
	step, err := c.step()
	if err != nil {
		return err
	}
	if d, _ := find(step.Verb); !d.suits(f.Target) {
		return fmt.Errorf("%s does not apply to %s", step.Verb, f.Target)
	}
	step.After = after
	f.Steps = append(f.Steps, step)
	return nil
}

// A clause is the part of a fault between two commas.
type clause struct{ words []string }

func (c *clause) has(key string) bool { return c.index(key) >= 0 }

func (c *clause) index(key string) int {
	return slices.IndexFunc(c.words, func(w string) bool { return strings.HasPrefix(w, key+"=") })
}

// take removes a key with its value.
func (c *clause) take(key string) string {
	i := c.index(key)
	value := c.words[i][len(key)+1:]
	c.words = slices.Delete(slices.Clone(c.words), i, i+1)
	return value
}

func (c *clause) duration(key string, zero bool) (time.Duration, error) {
	if !c.has(key) {
		return 0, fmt.Errorf("%s is missing, such as %s=10s", key, key)
	}
	value := c.take(key)
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d == 0 && !zero {
		return 0, fmt.Errorf("%s=%s: want a duration such as 10s", key, value)
	}
	return d, nil
}

// step parses a verb with its parameter.
func (c *clause) step() (s FaultAction, err error) {
	if len(c.words) == 0 {
		return FaultAction{}, fmt.Errorf("no verb: want one of %s", strings.Join(verbNames(), ", "))
	}
	d, known := find(Verb(c.words[0]))
	if !known {
		return FaultAction{}, suggest.Unknown("verb", c.words[0], verbNames())
	}
	c.words = c.words[1:]
	if s.Verb = d.verb; d.takes == "" {
		return s, nil
	}
	if !c.has(d.takes) && d.takes != reply {
		return FaultAction{}, fmt.Errorf("%s: %s is missing, such as %s", d.verb, d.takes, map[string]string{by: "by=50ms", to: "to=64k"}[d.takes])
	}
	switch d.takes {
	case by:
		s.By, err = c.duration(by, false)
	case to:
		s.To, err = parseBytes(c.take(to))
	case reply:
		name := "create"
		if c.has(reply) {
			name = c.take(reply)
		}
		op, known := lossy[name]
		if s.Reply = op; !known {
			err = suggest.Unknown("reply", name, slices.Sorted(maps.Keys(lossy)))
		}
	}
	return s, err
}

// target parses the target, which must suit the verb.
func (c *clause) target(d verbRow) (Target, error) {
	if len(c.words) == 0 || strings.HasPrefix(c.words[0], "for=") {
		return Target{}, errors.New("no target: want leader, follower, member=1, members=all, holder, client=1, clients=25% or clients=all")
	}
	w, err := parseTarget(c.words[0])
	if err != nil {
		return Target{}, err
	}
	c.words = c.words[1:]
	if !d.suits(w) {
		return Target{}, fmt.Errorf("%s does not apply to %s", d.verb, w)
	}
	return w, nil
}

func (c *clause) rest() error {
	if len(c.words) > 0 {
		return fmt.Errorf("unexpected %q", strings.Join(c.words, " "))
	}
	return nil
}

// parseBytes parses a rate such as "64k".
func parseBytes(text string) (int64, error) {
	number, size := text, int64(1)
	for _, u := range units {
		if cut, ok := strings.CutSuffix(text, u.name); ok {
			number, size = cut, u.size
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("to=%s: want bytes a second such as 64k", text)
	}
	return n * size, nil
}

// A Verb is the kind of a step.
type Verb string

// Verbs for servers, performed by signals to their processes and by limits on them.
const (
	Kill     Verb = "kill"
	Restart  Verb = "restart" // a running server is killed first
	Stop     Verb = "stop"
	Continue Verb = "continue"
	FillDisk Verb = "fill-disk" // a server that cannot write exits
)

// Verbs for connections: those of a session, or those between a server and the others.
const (
	Isolate  Verb = "isolate" // of servers only
	Cut      Verb = "cut"     // of sessions only
	Silence  Verb = "silence" // of sessions only
	Delay    Verb = "delay"
	Throttle Verb = "throttle"
	Restore  Verb = "restore"
)

// Verbs for sessions.
const (
	Expire Verb = "expire"
	Lose   Verb = "lose"
	Freeze Verb = "freeze"
	Thaw   Verb = "thaw"
)

// A verbRow is one row of the table of verbs.
type verbRow struct {
	verb    Verb
	servers bool   // can be done to servers
	clients bool   // can be done to clients
	undone  Verb   // the verb that undoes it; "" if none does or none is needed
	takes   string // its parameter, or ""
	about   string
}

// verbs returns the table of verbs in display order.
func verbs() []verbRow {
	return []verbRow{
		{verb: Kill, servers: true, undone: Restart, about: "SIGKILL; what is on disk stays"},
		{verb: Restart, servers: true, about: "start a killed server again; kill and start a running one"},
		{verb: Stop, servers: true, undone: Continue, about: "SIGSTOP: connections stay open, and no data arrives"},
		{verb: Continue, servers: true, about: "SIGCONT"},
		{verb: FillDisk, servers: true, undone: Restart, about: "its writes to files fail, so that it ends, until it is restarted"},
		{verb: Isolate, servers: true, undone: Restore, about: "no data passes between it and other members; its clients reach it"},
		{verb: Cut, clients: true, about: "the connection breaks; the session continues if it reconnects in time"},
		{verb: Silence, clients: true, undone: Restore, about: "no data passes, and no side is notified"},
		{verb: Delay, servers: true, clients: true, undone: Restore, takes: by, about: "all data arrives this much later, in each direction"},
		{verb: Throttle, servers: true, clients: true, undone: Restore, takes: to, about: "a connection passes at most this many bytes a second, in each direction"},
		{verb: Restore, servers: true, clients: true, about: "undo isolate, silence, delay and throttle"},
		{verb: Expire, clients: true, about: "the service ends the session"},
		{verb: Lose, clients: true, takes: reply, about: "the next such request is executed, then its reply and the connection are lost"},
		{verb: Freeze, clients: true, undone: Thaw, about: "no data passes and the client does nothing, as if its process were stopped"},
		{verb: Thaw, clients: true, about: "the client continues where it was"},
	}
}

// Verbs returns one row per verb: the verb, its target and parameters, and a description.
func Verbs() (rows [][3]string) {
	for _, d := range verbs() {
		shape := "TARGET"
		switch {
		case !d.servers:
			shape = "CLIENTS"
		case !d.clients:
			shape = "MEMBERS"
		}
		if d.takes != "" {
			shape += " " + d.takes + "=" + map[string]string{by: "50ms", to: "64k", reply: "create"}[d.takes]
		}
		rows = append(rows, [3]string{string(d.verb), shape, d.about})
	}
	return rows
}

// The parameters of verbs.
const (
	by    = "by"
	to    = "to"
	reply = "reply"
)

// suits reports whether the verb can be performed on the target.
func (d verbRow) suits(w Target) bool {
	if w.servers() {
		return d.servers
	}
	return d.clients
}

// formerRestore is what Restore was called before.
const formerRestore Verb = "mend"

func find(v Verb) (verbRow, bool) {
	if v == formerRestore {
		v = Restore
	}
	for _, d := range verbs() {
		if d.verb == v {
			return d, true
		}
	}
	return verbRow{}, false
}

func verbNames() (names []string) {
	for _, d := range verbs() {
		names = append(names, string(d.verb))
	}
	return names
}
