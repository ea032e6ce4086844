// Package balancer chooses the server on which each session of a service is opened: all
// servers in turn, the leader, or the followers in turn.
package balancer
