// Package canned implements a server that speaks ZooKeeper's protocol and does nothing. It keeps no
// nodes and no sessions, and answers each request immediately with a prepared reply.
//
// No real server is faster. The throughput of a load generator against it is therefore the limit of
// the generator, its client library and this machine, not of a service.
package canned
