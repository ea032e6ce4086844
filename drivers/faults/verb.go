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
	Mend     Verb = "mend"
)

// Verbs for sessions.
const (
	Expire Verb = "expire"
	Lose   Verb = "lose"
	Freeze Verb = "freeze"
	Thaw   Verb = "thaw"
)

// A deed is a row of the table of verbs.
type deed struct {
	verb    Verb
	servers bool   // can be done to servers
	clients bool   // can be done to clients
	undone  Verb   // the verb that undoes it; "" if none does or none is needed
	takes   string // its parameter, or ""
	about   string
}

// deeds returns the table of verbs in display order.
func deeds() []deed {
	return []deed{
		{verb: Kill, servers: true, undone: Restart, about: "SIGKILL; what is on disk stays"},
		{verb: Restart, servers: true, about: "start a killed server again; kill and start one that runs"},
		{verb: Stop, servers: true, undone: Continue, about: "SIGSTOP: connections stay, and nothing comes over them"},
		{verb: Continue, servers: true, about: "SIGCONT"},
		{verb: FillDisk, servers: true, undone: Restart, about: "no write to its files succeeds, so that it ends, until it is restarted"},
		{verb: Isolate, servers: true, undone: Mend, about: "nothing passes between it and other members; its clients reach it"},
		{verb: Cut, clients: true, about: "the connection breaks; the session goes on if it is back in time"},
		{verb: Silence, clients: true, undone: Mend, about: "nothing passes, and nobody is told"},
		{verb: Delay, servers: true, clients: true, undone: Mend, takes: by, about: "everything arrives so much later, each way"},
		{verb: Throttle, servers: true, clients: true, undone: Mend, takes: to, about: "so many bytes a second pass on a connection, each way"},
		{verb: Mend, servers: true, clients: true, about: "connections are as they were"},
		{verb: Expire, clients: true, about: "the service ends the session"},
		{verb: Lose, clients: true, takes: reply, about: "the next such request is done, its reply is lost and the connection with it"},
		{verb: Freeze, clients: true, undone: Thaw, about: "nothing passes and the client does nothing, as if its process were stopped"},
		{verb: Thaw, clients: true, about: "the client goes on where it was"},
	}
}

// Verbs returns one row per verb: the verb, its target and parameters, and a description.
func Verbs() (rows [][3]string) {
	for _, d := range deeds() {
		shape := "WHOM"
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
func (d deed) suits(w Whom) bool {
	if w.servers() {
		return d.servers
	}
	return d.clients
}

func find(v Verb) (deed, bool) {
	for _, d := range deeds() {
		if d.verb == v {
			return d, true
		}
	}
	return deed{}, false
}

func verbNames() (names []string) {
	for _, d := range deeds() {
		names = append(names, string(d.verb))
	}
	return names
}
