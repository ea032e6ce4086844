// Package exchange passes what the clients of a run do among the processes that share the run: how many
// have come to a point of a round, for instance.
package exchange
