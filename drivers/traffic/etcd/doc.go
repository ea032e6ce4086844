// Package etcd decodes a copy of the traffic between etcd's clients and servers: the messages of its KV,
// Watch and Lease services, by gRPC over HTTP/2 or through the gateway, which takes JSON over HTTP/1.1. The
// first bytes of a connection tell which (see [traffic.Protocol]).
//
// Each call becomes the closest operation of the contract of package drivers (see package calls); a key
// stands for a path. A watch is one that lasts: of a node for one key, of a tree for several. Each event is
// a notification. A lease that is granted is reported as a session, and later requests that name it by
// [traffic.Tap.Lease]. Other calls are [drivers.OpOther].
//
// A gap are: messages that are compressed or larger than 4 MiB (8 MiB as JSON), etcd 2's API (/v2),
// WebSockets, the gateway over HTTP/2, and other protocols, each by its cause. Health, metrics and version
// are neither messages nor a gap, nor are requests with an unknown path that the server refuses.
//
// The header compression of HTTP/2 has a state that both ends build up from the beginning. So
// nothing can be decoded of a connection that was joined in the middle, or that has lost bytes:
// all later bytes are a gap. HTTP/1.1 is decoded from the next request that begins a piece.
package etcd
