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
	if err := f.repeat(c); err != nil || !c.has("for") {
		return err
	}
	if d.undone == "" {
		return fmt.Errorf("%s takes no for=: it is over at once", d.verb)
	}
	undo := FaultAction{Verb: d.undone}
	undo.After, err = c.duration("for", false)
	f.Steps = append(f.Steps, undo)
	return err
}

// repeat parses how often the fault happens.
func (f *Fault) repeat(c *clause) (err error) {
	switch every, times := c.has("every"), c.has("times"); {
	case !every && !times:
		return nil
	case !every:
		return errors.New("every is missing, such as every=10s")
	case !times:
		return errors.New("times is missing, such as times=3")
	}
	if f.Every, err = c.duration("every", false); err != nil {
		return err
	}
	text := c.take("times")
	if f.Times, err = strconv.Atoi(text); err != nil || f.Times < 2 || f.Times > mostTimes {
		return fmt.Errorf("times=%s: want a number from 2 to %d", text, mostTimes)
	}
	return nil
}

// mostTimes is how often a fault can happen.
const mostTimes = 1000

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
	return parseDuration(key, c.take(key), zero)
}

func parseDuration(key, value string, zero bool) (time.Duration, error) {
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
	s.Verb = d.verb
	p := parameters[d.takes]
	value := p.preset
	switch {
	case c.has(d.takes):
		value = c.take(d.takes)
	case d.takes != "" && p.preset == "":
		return FaultAction{}, fmt.Errorf("%s: %s is missing, such as %s=%s", d.verb, d.takes, d.takes, p.example)
	}
	switch d.takes {
	case by:
		s.By, err = parseDuration(by, value, false)
	case to:
		s.To, err = parseBytes(value)
	case reply:
		s.Reply, err = named(lossy, reply, value)
	case direction:
		s.Direction, err = named(directions, direction, value)
	case key:
		switch s.Key = value; value {
		case "":
			err = fmt.Errorf("key= is empty: want a key such as key=/app/config, or key=%s for all", anyKey)
		case anyKey:
			s.Key = ""
		}
	}
	return s, err
}

func named[V any](all map[string]V, kind, name string) (V, error) {
	v, known := all[name]
	if !known {
		return v, suggest.Unknown(kind, name, slices.Sorted(maps.Keys(all)))
	}
	return v, nil
}

// target parses the target, which must suit the verb.
func (c *clause) target(d verbRow) (Target, error) {
	if len(c.words) == 0 || strings.HasPrefix(c.words[0], "for=") {
		return Target{}, fmt.Errorf("no target: want %s", d.targets())
	}
	w, err := parseTarget(c.words[0])
	if err != nil {
		return Target{}, err
	}
	c.words = c.words[1:]
	if !d.suits(w) {
		return Target{}, fmt.Errorf("%s does not apply to %s", d.verb, w)
	}
	if w.servers() && c.has(once) {
		if w.once = c.take(once); w.once == "" {
			return Target{}, fmt.Errorf("once= is empty: want the path of an ephemeral node, such as once=/members/a")
		}
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
	HangDisk Verb = "hang-disk"
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

// Verbs for sessions. Thaw undoes HangDisk too.
const (
	Expire Verb = "expire"
	Lose   Verb = "lose"
	Freeze Verb = "freeze" // of a run's own clients only
	Thaw   Verb = "thaw"
	Drop   Verb = "drop"   // of a run's own clients only
	Double Verb = "double" // likewise
	Hold   Verb = "hold"   // of the clients of other programs only
	Move   Verb = "move"   // likewise
)

// Verbs for the watches of clients of etcd, which the service ends one by one or with their stream.
const (
	CancelWatch  Verb = "cancel-watch"
	CompactWatch Verb = "compact-watch"
	BreakStream  Verb = "break-stream"
)

// A place is where a verb can be performed on clients.
type place uint8

const (
	inRuns     place = 1 << iota // stampede run, on its own clients
	inPrograms                   // stampede observe, on the clients of another program
	everywhere = inRuns | inPrograms
)

// A verbRow is one row of the table of verbs.
type verbRow struct {
	verb    Verb
	servers bool   // can be done to servers
	clients place  // where it can be done to clients
	etcd    bool   // of etcd only: watches have numbers and streams
	packets bool   // of ZooKeeper's protocol only: a notification is a packet
	undone  Verb   // the verb that undoes it; "" if none does or none is needed
	takes   string // its parameter, or ""
	about   string
}

// verbs returns the table of verbs in display order.
func verbs() []verbRow {
	return []verbRow{
		{verb: Kill, servers: true, undone: Restart, about: "SIGKILL; the data on disk stays"},
		{verb: Restart, servers: true, about: "start a killed server again; kill a running one first"},
		{verb: Stop, servers: true, undone: Continue, about: "SIGSTOP: connections stay open, and no data arrives"},
		{verb: Continue, servers: true, about: "SIGCONT"},
		{verb: FillDisk, servers: true, undone: Restart, about: "all writes to its files fail, and the server exits; restart frees the disk"},
		{verb: HangDisk, servers: true, undone: Thaw, about: "all writes to its files block; what needs no disk goes on; the server cannot be killed or stopped meanwhile"},
		{verb: Isolate, servers: true, undone: Restore, takes: direction, about: "drop all data between the member and the others, or only what it sends (out) or receives (in); clients still reach it"},
		{verb: Cut, clients: everywhere, about: "close the connection; the session survives if the client reconnects within the time-out"},
		{verb: Silence, clients: everywhere, undone: Restore, takes: direction, about: "drop all data, or only what the client sends (out) or receives (in); the connection stays open"},
		{verb: Delay, servers: true, clients: everywhere, undone: Restore, takes: by, about: "delay all data by this time, in each direction"},
		{verb: Throttle, servers: true, clients: everywhere, undone: Restore, takes: to, about: "limit each connection to this many bytes per second, in each direction"},
		{verb: Hold, clients: inPrograms, undone: Restore, about: "hold back watch notifications; everything else passes"},
		{verb: Drop, clients: inRuns, packets: true, undone: Restore, about: "lose watch notifications; everything else passes"},
		{verb: Double, clients: inRuns, packets: true, undone: Restore, about: "deliver each watch notification twice; everything else passes"},
		{verb: Move, clients: inPrograms, about: "close the connection; its member refuses the client until the client has connected to another member"},
		{verb: CancelWatch, clients: inPrograms, etcd: true, takes: key, about: "the service cancels the watch with a reason; the stream stays open"},
		{verb: CompactWatch, clients: inPrograms, etcd: true, takes: key, about: "the service cancels the watch as compacted up to the current revision; for this client only"},
		{verb: BreakStream, clients: inPrograms, etcd: true, takes: key, about: "reset the stream of the watch (RST_STREAM); the connection stays open"},
		{verb: Restore, servers: true, clients: everywhere, about: "undo isolate, silence, delay, throttle, hold, drop and double"},
		{verb: Expire, clients: everywhere, about: "the service expires the session"},
		{verb: Lose, clients: everywhere, takes: reply, about: "execute the next such request, drop its reply, and close the connection"},
		{verb: Freeze, clients: inRuns, undone: Thaw, about: "suspend the client and drop its data, as SIGSTOP does to a process"},
		{verb: Thaw, servers: true, clients: inRuns, about: "undo freeze and hang-disk: the client resumes, blocked writes complete"},
	}
}

// Verbs returns one row per verb: the verb, its target and parameters, where it can be performed, and a
// description.
func Verbs() (rows [][4]string) {
	for _, d := range verbs() {
		shape := "TARGET"
		switch {
		case !d.servers:
			shape = "CLIENTS"
		case d.clients == 0:
			shape = "MEMBERS"
		}
		if d.takes != "" {
			p := parameters[d.takes]
			text := d.takes + "=" + p.example
			if p.preset != "" {
				text = "[" + text + "]"
			}
			shape += " " + text
		}
		rows = append(rows, [4]string{string(d.verb), shape, d.where(), d.about})
	}
	return rows
}

// where names the commands that can perform the verb.
func (d verbRow) where() string {
	switch {
	case d.packets:
		return "run, not etcd"
	case !d.servers && d.clients == inRuns:
		return "run"
	case d.etcd:
		return "observe, etcd"
	case !d.servers && d.clients == inPrograms:
		return "observe"
	}
	return "run, observe"
}

// The parameters of verbs.
const (
	by        = "by"
	to        = "to"
	reply     = "reply"
	direction = "direction"
	key       = "key"
)

// anyKey stands for the watches on all keys.
const anyKey = "*"

// parameters has an example of each parameter, and what it is if it is not given; "" if it must be.
var parameters = map[string]struct{ example, preset string }{
	by: {example: "50ms"}, to: {example: "64k"}, reply: {"create", "create"}, direction: {"out", "both"},
	key: {"/app/config", anyKey},
}

// targets lists what the verb can be performed on.
func (d verbRow) targets() string {
	servers, clients := "leader, follower, member=1 or members=all", "holder, client=1, clients=25% or clients=all"
	switch {
	case d.clients == inPrograms:
		return "client=1, clients=25%, clients=all, process=NAME or node=PATH"
	case d.clients == everywhere:
		clients = "client=1, clients=25%, clients=all, holder (in a run), process=NAME or node=PATH (of another program)"
	}
	switch {
	case d.clients == 0:
		return servers
	case !d.servers:
		return clients
	}
	return "leader, follower, member=1, members=all, " + clients
}

// suits reports whether the verb can be performed on the target.
func (d verbRow) suits(w Target) bool {
	if w.servers() {
		return d.servers
	}
	return d.clients&w.place() != 0
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
