package wire

// RequestHeaderSize and ReplyHeaderSize are the headers' lengths in bytes.
const (
	RequestHeaderSize = 8
	ReplyHeaderSize   = 16
)

// A RequestHeader begins every request except the one that opens a session.
type RequestHeader struct {
	Xid int32
	Op  int32
}

// Decode reads the header.
func (h *RequestHeader) Decode(d *Decoder) { h.Xid, h.Op = d.Int(), d.Int() }

// Append appends the header to b.
func (h RequestHeader) Append(b []byte) []byte { return AppendInt(AppendInt(b, h.Xid), h.Op) }

// A ReplyHeader begins every reply and notification. An error reply consists of the header
// only.
type ReplyHeader struct {
	Xid  int32
	Zxid int64
	Err  Err
}

// Decode reads the header.
func (h *ReplyHeader) Decode(d *Decoder) { h.Xid, h.Zxid, h.Err = d.Int(), d.Long(), Err(d.Int()) }

// Append appends the header to b.
func (h ReplyHeader) Append(b []byte) []byte {
	return AppendInt(AppendLong(AppendInt(b, h.Xid), h.Zxid), int32(h.Err))
}
