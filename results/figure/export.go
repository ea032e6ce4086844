package figure

// An Exported is an OpenTelemetry metric: its name and unit after OpenTelemetry's semantic conventions, and
// a description. Several figures can be computed from one.
type Exported struct{ Name, Unit, About string }

// Exports returns the OpenTelemetry metrics of runs, of observations and of native servers.
func Exports() []Exported {
	// Unless the description says otherwise, the values are those of the runs themselves.
	return []Exported{
		{"stampede.run.duration", "s", "time measured"},
		{"stampede.rounds", "{round}", "rounds completed"},
		{"stampede.notifications", "{notification}", "notifications that the server sent"},
		{"stampede.operations", "{operation}", "operations that the server answered"},
		{"stampede.background.operations", "{operation}", "operations of the background load, not included in stampede.operations"},
		{"stampede.network.io", "By", "bytes on the wire, measured at the clients"},
		{"stampede.wakeups", "{wakeup}", "notifications after which a client completed its phase (useful) or waited again (wasted)"},
		{"stampede.errors", "{error}", "operations that failed"},
		{"stampede.safety.violations", "{violation}", "safety violations; known when a run is over"},
		{"stampede.arrivals", "{arrival}", "arrivals of an open loop; on-time arrivals count when they are complete"},
		{"stampede.background.arrivals", "{arrival}", "arrivals of the background load, if it has a rate"},
		{"stampede.generator.cpu.time", "s", "processor time that the load generator used"},
		{"stampede.generator.cpu.steal.time", "s", "processor time that the hypervisor gave to other machines (steal)"},
		{"stampede.generator.gc.pause.time", "s", "time for which the garbage collector stopped the load generator"},

		{"stampede.phase.response.duration", "s", "response time of a phase: from the moment when it was due"},
		{"stampede.phase.service.duration", "s", "service time of a phase: from its call"},
		{"stampede.background.response.duration", "s", "response time of an operation of the background load"},
		{"stampede.write.fanout", "{session}", "sessions that one write notified"},
		{"stampede.write.drain.duration", "s", "from the first to the last notification of one write"},
		{"stampede.generator.lag.duration", "s", "delay of the load generator's timers"},

		{"stampede.run.clients", "{client}", "clients of the run in progress; 0 after the run"},
		{"stampede.arrivals.waiting", "{arrival}", "approximate number of due arrivals that no client has started"},
		{"stampede.arrivals.lag", "s", "time since the oldest waiting arrival was due"},
		{"stampede.generator.cpu.limit", "{cpu}", "processors that the load generator may use at the same time"},

		{"stampede.server.connections", "{connection}", "connections to the server"},
		{"stampede.server.sessions", "{session}", "sessions, connected or not"},
		{"stampede.server.nodes", "{node}", "nodes that the server holds"},
		{"stampede.server.ephemerals", "{node}", "ephemeral nodes"},
		{"stampede.server.watches", "{watch}", "armed watches"},
		{"stampede.server.data", "By", "bytes of paths and data"},
		{"stampede.server.packets", "{packet}", "packets on all connections"},
		{"stampede.server.operations", "{operation}", "requests answered; heartbeats are among the reads"},
		{"stampede.server.notifications", "{notification}", "watches that fired"},
		{"stampede.server.member.leads", "{leader}", "1 if this member leads the ensemble, 0 if not"},
		{"stampede.server.member.lag", "{entry}", "committed entries that this member has not applied"},
		{"stampede.server.member.proposals", "{transaction}", "transactions of this member's clients that are not applied"},
		{"stampede.server.member.elections", "{election}", "leaders that this member has seen"},
		{"stampede.server.member.followers", "{member}", "members that the leader hears of; 0 on other members"},
		{"stampede.server.member.synced", "{member}", "those of the followers that have all but the latest entries"},

		{"stampede.observed.notifications", "{notification}", "notifications that servers sent to observed clients"},
		{"stampede.observed.wakeups", "{wakeup}", "notifications by what the session did next: it acted, it read the change, or it waited again"},
		{"stampede.observed.requests", "{request}", "requests of observed clients; parts of a transaction count one by one"},
		{"stampede.observed.watches", "{watch}", "standing watches of observed clients"},
		{"stampede.observed.change.fanout", "{session}", "sessions that one change notified; the count is the number of changes"},
		{"stampede.observed.wakeups.wasted", "{wakeup}", "wake-ups so far that were wasted for the form that is recognised now; absent where no form is"},
		{"stampede.observed.unanalysed", "By", "bytes that were not analysed: the other metrics are too low"},
		{"stampede.observed.incomplete", "{cause}", "1 for each cause for which traffic was not analysed; absent if all was"},
	}
}

// Export returns the OpenTelemetry metric with the name, which is a constant of the program.
func Export(name string) Exported {
	for _, e := range Exports() {
		if e.Name == name {
			return e
		}
	}
	panic("no such OpenTelemetry metric: " + name)
}
