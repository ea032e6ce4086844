package drivers

import (
	"context"
	"time"
)

// An Ensemble is a Service whose servers the run has started, each in a process of its
// own. They can be broken and restored one by one.
type Ensemble interface {
	Service
	// Members returns its servers, always in the same order.
	Members() []Member
	// Divisible reports whether the traffic between its members can be blocked and slowed
	// down. This takes several members that were started for it, because their traffic
	// then passes through proxies.
	Divisible() bool
}

// A Member is one server of an ensemble. Its methods take effect before they return; none
// waits until the ensemble has recovered. A call that does not fit the member's state,
// such as killing it twice, is an error.
type Member interface {
	// Name distinguishes the member from the others: "1", "2", ….
	Name() string
	// Address is the host:port where it accepts sessions. It stays the same after a
	// restart.
	Address() string
	// Leads asks the member whether it is the leader. A member that does not answer is an
	// error. A standalone server leads.
	Leads(ctx context.Context) (bool, error)
	// Kill ends the member's process with SIGKILL, even if it is stopped or has ended
	// because its disk was full, and returns when it is gone. The data on its disk stays.
	Kill() error
	// Restart starts a killed member on the data that it left on disk, which is none if
	// its durability is memory. It returns when the process runs, which may be long
	// before the member serves.
	Restart(ctx context.Context) error
	// Stop stops the member's process with SIGSTOP: its connections stay open, and
	// nothing arrives over them.
	Stop() error
	// Continue resumes a stopped process with SIGCONT.
	Continue() error
	// Isolate blocks all traffic between the member and the others, in both directions,
	// and reports this to none of them: data that is sent waits. Clients with a session
	// on the member reach it as before. Isolate is an error if the ensemble is not
	// divisible, and so are Delay, Throttle and Restore.
	Isolate() error
	// Delay delays all traffic between the member and the others by this much, in each
	// direction.
	Delay(by time.Duration) error
	// Throttle limits each connection between the member and the others to rate bytes per
	// second, in each direction.
	Throttle(rate int64) error
	// Restore undoes Isolate, Delay and Throttle: data that waits passes, and so does new
	// data.
	Restore() error
	// CanFillDisk reports whether FillDisk works on this member: it has a disk, servers
	// of its kind lose no data when their disk is full, and the operating system supports
	// it.
	CanFillDisk() bool
	// FillDisk makes all the member's writes to files fail until it has been killed and
	// restarted. The data on its disk stays. A server that cannot write ends by itself.
	FillDisk() error
}
