// Package namespace creates and removes the nodes of runs on a service. All nodes of a run are below
// one node of its own, in a namespace that several runs can share. [Clean] removes what killed runs
// left.
package namespace
