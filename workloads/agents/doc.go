// Package agents runs one load from several processes, on one machine or many, and makes one result of
// it.
//
// A coordinator has a [Fleet] of agents. For each run it announces where the run's subtree will be, creates
// it on the service, gives each agent a contiguous part of the sessions, and merges what the agents hand
// in. Both use a control plane, package control, which is never the service under test. Agents remove the
// subtree if the coordinator dies.
//
// Counts and histograms of the parts are added. What only all clients together show is found from what
// the agents recorded: the fan-out of each write from the journals of their packets, and safety, fairness
// and hand-offs from the steps of their clients. Each agent estimates the coordinator's clock, so these
// times have an error, which is part of the result.
//
// An agent runs no load that nobody coordinates: it stops when the coordinator's membership ends, and
// when its own does.
package agents
