// Package outage says in sentences what faults did to the clients of runs: the herd of those that return, how
// long no client was served, and how long it took until all were.
package outage
