// Package control is the control plane of a run from several machines: what a coordinator and its
// agents have in common. It is a coordination service apart from the one under test: an etcd member
// that the coordinator runs ([Start]), or any service that has an address.
//
// A [Plane] is one process's session with it. Processes are members while their sessions last, so a
// process that dies or is cut off leaves by itself. Documents are nodes. Processes wait for each other
// in stampede's own double barrier.
package control
