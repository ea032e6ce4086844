package faults

// A Verb is what is done.
type Verb string

// What is done to servers, by signals to their processes and limits of them, and on
// the lines between them.
const (
	Kill     Verb = "kill"
	Restart  Verb = "restart" // of a server that runs: killed first
	Stop     Verb = "stop"
	Continue Verb = "continue"
	FillDisk Verb = "fill-disk" // a server that cannot write ends
	Isolate  Verb = "isolate"
	Rejoin   Verb = "rejoin"
)

// What is done to sessions and their connections.
const (
	Expire   Verb = "expire"
	Cut      Verb = "cut"
	Delay    Verb = "delay"
	Throttle Verb = "throttle"
	Silence  Verb = "silence"
	Mend     Verb = "mend"
	Lose     Verb = "lose"
	Freeze   Verb = "freeze"
	Thaw     Verb = "thaw"
)

// A deed is a row of the table of verbs.
type deed struct {
	verb    Verb
	servers bool   // is done to servers, not to clients
	undone  Verb   // by which verb; "": it cannot be undone, or need not be
	takes   string // the parameter it must have, or ""
	about   string
}

// deeds is the table of verbs, in the order in which they are shown.
func deeds() []deed {
	return []deed{
		{verb: Kill, servers: true, undone: Restart, about: "SIGKILL; what is on disk stays"},
		{verb: Restart, servers: true, about: "start a killed server again; kill and start one that runs"},
		{verb: Stop, servers: true, undone: Continue, about: "SIGSTOP: connections stay, and nothing comes over them"},
		{verb: Continue, servers: true, about: "SIGCONT"},
		{verb: FillDisk, servers: true, undone: Restart, about: "no write to its files succeeds, so that it ends, until it is restarted"},
		{verb: Isolate, servers: true, undone: Rejoin, about: "nothing passes between it and other members; its clients reach it"},
		{verb: Rejoin, servers: true, about: "what waited passes, and what comes"},
		{verb: Expire, about: "the service ends the session"},
		{verb: Cut, about: "the connection breaks; the session goes on if it is back in time"},
		{verb: Delay, undone: Mend, takes: by, about: "everything arrives so much later, each way"},
		{verb: Throttle, undone: Mend, takes: to, about: "so many bytes a second pass, each way"},
		{verb: Silence, undone: Mend, about: "nothing passes, and nobody is told"},
		{verb: Mend, about: "the connection is as it was"},
		{verb: Lose, takes: reply, about: "the next such request is done, its reply is lost and the connection with it"},
		{verb: Freeze, undone: Thaw, about: "nothing passes and the client does nothing, as if its process were stopped"},
		{verb: Thaw, about: "the client goes on where it was"},
	}
}

// Verbs are what can be done, a line each: the verb, whom it is done to with the
// parameters it takes, and what it means.
func Verbs() (rows [][3]string) {
	for _, d := range deeds() {
		shape := "CLIENTS"
		if d.servers {
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
