package floor

import "github.com/stampede-bench/stampede/drivers/wire"

var (
	stat = wire.Stat{}.Append(nil)
	data = wire.DataStat{Data: make([]byte, 100)}.Append(nil)
)

// Node is the path in every notification.
const Node = "/large"

var notification = makeNotification()

func makeNotification() []byte {
	b := wire.ReplyHeader{Xid: wire.XidNotification, Zxid: 1}.Append(wire.Begin(nil))
	b = wire.WatcherEvent{Type: wire.EventDataChanged, State: wire.StateConnected, Path: Node}.Append(b)
	wire.End(b, 0)
	return b
}

// appendReply appends a reply that says that the request succeeded.
func appendReply(b []byte, h wire.RequestHeader, d *wire.Decoder) []byte {
	head := wire.ReplyHeader{Xid: h.Xid, Zxid: 1}
	switch h.Op {
	case wire.OpPing, wire.OpCloseSession:
		return head.Append(b)
	case wire.OpGetData:
		return append(head.Append(b), data...)
	case wire.OpSetData:
		return append(head.Append(b), stat...)
	case wire.OpCreate:
		return appendPath(head.Append(b), d)
	case wire.OpCreate2:
		return append(appendPath(head.Append(b), d), stat...)
	}
	head.Err = wire.ErrUnimplemented
	return head.Append(b)
}

// appendPath appends the path of a create, with a number if it is sequential. The number is
// always the same: no node is created.
func appendPath(b []byte, d *wire.Decoder) []byte {
	var r wire.CreateRequest
	r.Decode(d)
	if r.Flags&wire.FlagSequential != 0 {
		r.Path += "0000000000"
	}
	return wire.AppendString(b, r.Path)
}
