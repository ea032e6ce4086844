package etcd

import "google.golang.org/protobuf/proto"

// header is the number of bytes that gRPC puts before a message.
const header = 5

// size returns the size of a message on the wire.
func size(message any) int {
	switch m := message.(type) {
	case proto.Message:
		return header + proto.Size(m)
	case *listing:
		return header + m.size
	}
	return header
}
