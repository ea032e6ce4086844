// Package proxy passes the connections between other programs' clients and servers on, and
// reports what they carry to a [traffic.Observer].
//
// A [Proxy] listens at one address for each server. It passes all bytes on unchanged, whatever
// they are. A copy goes to the decoder through a queue of bounded size: when the analysis is late,
// the copy is dropped and counted, and the bytes are not delayed. When the analysis of a
// connection panics, it stops, and the connection's bytes continue to pass.
package proxy
