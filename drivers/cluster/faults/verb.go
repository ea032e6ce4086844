package faults

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
