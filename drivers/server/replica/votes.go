package replica

import pb "go.etcd.io/raft/v3/raftpb"

// votes protect what was committed from members that have lost their log. A member whose log was empty
// when it started, because it is new or its directory was removed, is joining until it has applied all
// that was committed: it may have confirmed entries that it does not have any more. Its vote, and the
// election of such a member, count only if all members agree, because then one of them has every
// committed entry. Between members whose logs are empty votes count as usual, so that a new ensemble
// can begin with a majority of its members.
type votes struct {
	joining bool
	begun   map[request]bool // requests of candidates whose log was not empty
	round   request          // the last own request, without a candidate
	weak    bool             // the member's own vote in it counts only with all others
	granted map[uint64]bool  // members that agreed
	held    []*pb.Message    // votes that do not count so far
}

// A request is a candidate's request for votes.
type request struct {
	candidate uint64
	answer    pb.MessageType
	term      uint64
}

func (v *votes) init(m *Member) {
	v.joining, v.begun = m.config.Joining, map[request]bool{}
}

// Joining reports whether the member is joining. When it is not any more, the caller sets
// Config.Joining to false at the member's further starts.
func (m *Member) Joining() bool { return m.votes.joining }

// asked takes note of a candidate's request.
func (v *votes) asked(x *pb.Message) {
	if r, ok := requestOf(x); ok && v.joining && x.GetIndex() > 0 {
		r.candidate = x.GetFrom()
		v.begun[r] = true
	}
}

func requestOf(x *pb.Message) (r request, ok bool) {
	switch x.GetType() {
	case pb.MsgVote:
		return request{answer: pb.MsgVoteResp, term: x.GetTerm()}, true
	case pb.MsgPreVote:
		return request{answer: pb.MsgPreVoteResp, term: x.GetTerm()}, true
	}
	return r, false
}

// isWeak reports whether a message that the member sends is a vote that counts only with all others.
func (v *votes) isWeak(x *pb.Message) bool {
	return v.joining && isVote(x) && v.begun[request{x.GetTo(), x.GetType(), x.GetTerm()}]
}

func isVote(x *pb.Message) bool {
	return (x.GetType() == pb.MsgVoteResp || x.GetType() == pb.MsgPreVoteResp) && !x.GetReject()
}

// sent takes note of the member's own request.
func (v *votes) sent(x *pb.Message) {
	if r, ok := requestOf(x); ok {
		v.round, v.weak = r, v.joining && x.GetIndex() > 0
		v.granted, v.held = map[uint64]bool{}, nil
	}
}

// arrived returns the votes that count now that another one has arrived.
func (v *votes) arrived(x Message, members int) (count []*pb.Message) {
	if v.round != (request{0, x.Raft.GetType(), x.Raft.GetTerm()}) {
		if !x.Weak {
			count = []*pb.Message{x.Raft}
		}
		return count
	}
	v.granted[x.From] = true
	v.held = append(v.held, x.Raft)
	if (x.Weak || v.weak) && len(v.granted) < members-1 {
		return nil
	}
	if len(v.granted) < members-1 {
		v.held = v.held[:len(v.held)-1]
		return []*pb.Message{x.Raft}
	}
	count, v.held = v.held, nil
	return count
}
