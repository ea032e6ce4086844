package wire

import "encoding/binary"

// WholePackets reports whether p consists of whole packets with plausible headers, of requests if
// they are from a client, else of replies and notifications. It does not recognise the packets
// that open a session, which have no header.
func WholePackets(fromClient bool, p []byte) bool {
	if fromClient {
		return wholePackets(p, RequestHeaderSize, plausibleRequest)
	}
	return wholePackets(p, ReplyHeaderSize, plausibleReply)
}

func wholePackets(p []byte, least int, plausible func(*Decoder) bool) bool {
	for len(p) > 0 {
		if len(p) < LengthSize+least {
			return false
		}
		n := binary.BigEndian.Uint32(p)
		d := NewDecoder(p[LengthSize:])
		if n < uint32(least) || int64(n) > int64(len(p)-LengthSize) || !plausible(&d) {
			return false
		}
		p = p[LengthSize+int(n):]
	}
	return true
}

func plausibleRequest(d *Decoder) bool {
	var h RequestHeader
	h.Decode(d)
	known := h.Op > OpNotify && h.Op <= OpMultiRead || h.Op >= OpAuth && h.Op <= OpWhoAmI ||
		h.Op == OpCloseSession
	return known && h.Xid >= XidSetWatches
}

func plausibleReply(d *Decoder) bool {
	var h ReplyHeader
	h.Decode(d)
	return h.Xid >= XidSetWatches && h.Zxid >= -1 && h.Err <= 0 && h.Err > lowestErr
}

// lowestErr is below all error codes.
const lowestErr Err = -200
