package polling

// Rounds are the rounds in which one client asks by writing: it creates a node in a line, lists that without a watch, and
// deletes the node again. The zero value has none.
type Rounds struct {
	line, node string // of the round that has begun; no node without one
	begun      Done   // what the client had done before
	requests   int64
	listed     bool
	last       string // line of the last whole round
	end        Done   // after it
}

// Created begins a round: the client has created a node in the line. Done is what it had done before.
func (r *Rounds) Created(line, node string, done Done) {
	r.line, r.node, r.begun, r.requests, r.listed = line, node, done, 1, false
}

// Asked goes on with any other request than one to create a node or to delete the client's own. A read without a watch, of
// the line or of a node in it, belongs to the round. Anything else ends it.
func (r *Rounds) Asked(path, parent string, plain bool) {
	if !plain || path != r.line && parent != r.line {
		r.node = ""
		return
	}
	r.requests++
	r.listed = r.listed || path == r.line
}

// Deleted ends the round by the request to delete the client's node. If the round repeats the one before, at the same line,
// and the client was told nothing and wrote nothing else since that began, Deleted returns how many requests it had, else 0.
// Done is what the client has done with this request.
func (r *Rounds) Deleted(node string, done Done) (requests int64) {
	if r.node == "" || r.node != node || !r.listed {
		return 0
	}
	if r.last == r.line && r.end == r.begun && done.Notified == r.begun.Notified {
		requests = r.requests + 1
	}
	r.last, r.end, r.node = r.line, done, ""
	return requests
}
