// Package canned is a server that speaks ZooKeeper's protocol and does nothing: it keeps
// no node and no session, and answers each request at once with a reply made beforehand.
//
// No real server is faster, so what a generator of load reaches against it is the limit of
// the generator, its client library and this machine, and of no service.
package canned
