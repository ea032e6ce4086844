// Package captured has packets that clients and Apache ZooKeeper exchanged. The clients are
// go-zookeeper, kazoo, Curator and ZooKeeper's shell, which differ in details. The tests and
// fuzzers of code that reads packets use them.
//
// The tests of package native that run these clients record the packets again:
//
//	go test -run 'Kazoo|Curator|Shell|GoZooKeeper' ./drivers/server -args -capture
package captured
