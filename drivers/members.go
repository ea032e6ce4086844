package drivers

import (
	"context"
	"time"
)

// An Ensemble is a Service whose servers the run has started: processes of their
// own, which can be broken and mended one by one.
type Ensemble interface {
	Service
	// Members are its servers, in an order that stays.
	Members() []Member
	// Divisible tells whether what its members say to each other can be held up: that
	// of several that were started with that in mind, since it then takes a way round.
	Divisible() bool
}

// A Member is one server of an ensemble. What is done to it is done when the
// call returns; nothing waits until the ensemble has got over it. Doing what
// cannot be done to a member as it is (killing it twice) is an error.
type Member interface {
	// Name tells it from the others: "1", "2", ….
	Name() string
	// Address is where it takes sessions, host:port, before and after a restart.
	Address() string
	// Leads asks the member whether it is the leader. One that does not answer
	// is an error; a server by itself leads.
	Leads(ctx context.Context) (bool, error)
	// Kill ends its process by SIGKILL, also one that is stopped, or that has ended
	// on a full disk, and returns when it is gone. What it had on disk stays.
	Kill() error
	// Restart starts a killed member on what it left on disk, which is nothing where
	// its durability is memory. It returns when the
	// process runs, which may be long before it serves.
	Restart(ctx context.Context) error
	// Stop stops its process by SIGSTOP: its connections stay, and nothing comes
	// over them.
	Stop() error
	// Continue lets a stopped process go on.
	Continue() error
	// Isolate lets nothing pass between the member and the others, either way, and
	// nobody is told: what is sent waits. Whoever has a session with it reaches it as
	// before. It is an error where the ensemble is not divisible, as it is for Delay,
	// Throttle and Mend.
	Isolate() error
	// Delay has everything between the member and the others arrive so much later,
	// each way.
	Delay(by time.Duration) error
	// Throttle lets so many bytes a second pass on each connection between the member
	// and the others, each way.
	Throttle(rate int64) error
	// Mend takes back Isolate, Delay and Throttle: what waited passes, and what comes.
	Mend() error
	// CanFillDisk tells whether FillDisk can be done to such a member: it has a
	// disk, gets over it, and the system is one on which it can.
	CanFillDisk() bool
	// FillDisk lets none of its writes to files succeed from now on, until it has
	// been killed and restarted. What it had on disk stays. A server that cannot
	// write ends by itself.
	FillDisk() error
}
