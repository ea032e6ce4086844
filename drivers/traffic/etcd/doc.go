// Package etcd decodes a copy of the traffic between etcd's clients and servers: HTTP/2, gRPC and
// the messages of its KV, Watch and Lease services.
//
// Each call becomes the closest operation of the contract of package drivers (see package calls);
// a key stands for a path. A watch is one that lasts: of a node for one key, of a tree for
// several. Each event is a notification. A lease is a session. Other calls, and compressed
// messages, are [drivers.OpOther].
//
// The header compression of HTTP/2 has a state that both ends build up from the beginning. So
// nothing can be decoded of a connection that was joined in the middle, or that has lost bytes:
// all later bytes are a gap.
package etcd
