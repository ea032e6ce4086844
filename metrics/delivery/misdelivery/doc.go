// Package misdelivery plants faults in the delivery of a real server, to test that they are found. A [Relay] lies
// between clients and the servers of a service. It changes the notifications of ZooKeeper and the watch responses of
// etcd as a [Fault] says, and passes on everything else.
package misdelivery
