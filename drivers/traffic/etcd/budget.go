package etcd

import "sync/atomic"

// A budget counts the bytes that the decoders of all connections keep: of frames, headers and messages that are
// not complete, and of the keys of calls that have no answer.
type budget struct{ atomic.Int64 }

// maxUnfinished is far more than honest connections keep, whose messages are complete after some packets.
const maxUnfinished = 256 << 20

// account takes from the budget what the decoder keeps now, in place of what it kept before, and reports whether
// that is within the budget.
func (d *decoder) account() bool {
	now := int64(d.requests.buf.Len() + d.replies.buf.Len() + d.inStreams)
	left := maxUnfinished - d.budget.Add(now-d.taken)
	d.taken = now
	return left >= 0
}

// update takes into account what a stream keeps now.
func (d *decoder) update(s *stream) {
	now := len(s.up.buf) + len(s.down.buf) + s.keys + s.watches.keys
	d.inStreams += now - s.kept
	s.kept = now
}
