package owner

// A Service is the processes on this machine that serve another one: those at the other ends of the connections that it
// has opened, and those that they call in turn, such as the server behind a proxy.
type Service struct {
	Processes []int
	// Unknown says that a connection ends on this machine in a process that cannot be found: it is that of a container, or
	// of another user.
	Unknown bool
}
