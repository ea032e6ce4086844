// Package journal records the packets of one agent's sessions, and replays the journals of all agents of a
// run into one meter.
//
// The fan-out of a write cannot be added up, since the writer and the watchers may be on different agents.
// So each agent keeps a [Journal] of what the meter needs of each packet, and [Replay] gives the packets of
// all agents to one fanout.Meter, whose rules then hold over the whole run.
//
// Positions in the service's order of writes decide which write caused a notification, not the clocks of
// the agents. Their error matters only for times, such as that from the first notification of a write to
// its last.
package journal
