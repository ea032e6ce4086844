// Package captured has packets that clients and Apache ZooKeeper exchanged:
// go-zookeeper, kazoo, Curator and ZooKeeper's shell, each with its own habits.
// What reads packets is tested with them, and fuzzed from them on.
//
// The tests of package native that run these clients record the packets anew:
//
//	go test -run 'Kazoo|Curator|Shell|GoZooKeeper' ./drivers/native -args -capture
package captured
