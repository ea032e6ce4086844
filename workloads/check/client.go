package check

// A Client is a client whose actions are checked. It is compared by identity.
type Client interface {
	// Number returns the client's number in messages, from 1.
	Number() int
	// Disturbances returns how often the client's session was disconnected or lost so far.
	Disturbances() int64
}
