// Package spread is at which of its servers a service's sessions are opened: at
// all of them in turn, at the leader, or at the followers in turn.
package spread
