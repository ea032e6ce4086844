package polling

import "time"

// Rounds are the rounds in which one client asks by writing: it creates a node in a line, lists that without a watch, and
// deletes the node again. The zero value has none.
type Rounds struct {
	line, node string // of the round that has begun; no node without one
	begun      time.Time
	listed     time.Time // zero if it is not
	requests   int64
	last       string // line of the last whole round
}

// A Round is a whole one that repeats the one before.
type Round struct {
	Requests    int64         // 0 if there is none
	Asked, Held time.Duration // until the line was listed, and from then until the client deleted its node
}

// Created begins a round: the client has created a node in the line, which it had asked for at that time.
func (r *Rounds) Created(line, node string, asked time.Time) {
	*r = Rounds{line: line, node: node, begun: asked, requests: 1, last: r.last}
}

// Asked goes on with any other request than one to create a node or to delete the client's own. A read without a watch, of
// the line or of a node in it, belongs to the round. Anything else ends it.
func (r *Rounds) Asked(path, parent string, plain bool) {
	if !plain || path != r.line && parent != r.line {
		r.node = ""
		return
	}
	r.requests++
}

// Listed records the answer to a list of the line.
func (r *Rounds) Listed(line string, at time.Time) {
	if line == r.line {
		r.listed = at
	}
}

// Told records a notification: if it is about the line, what follows repeats nothing.
func (r *Rounds) Told(path, parent string) {
	if path == r.last || parent == r.last {
		r.last = ""
	}
	if path == r.line || parent == r.line {
		r.node = ""
	}
}

// Deleted ends the round by the request to delete the client's node, and returns it if it repeats the one before.
func (r *Rounds) Deleted(node string, at time.Time) (whole Round) {
	if r.node == "" || r.node != node || r.listed.IsZero() {
		return Round{}
	}
	if r.last == r.line {
		whole = Round{Requests: r.requests + 1, Asked: r.listed.Sub(r.begun), Held: at.Sub(r.listed)}
	}
	r.last, r.node = r.line, ""
	return whole
}
