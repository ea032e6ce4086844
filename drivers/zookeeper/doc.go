// Package zookeeper opens sessions with a ZooKeeper service.
package zookeeper
