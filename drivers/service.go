package drivers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// A Service is a coordination service on which sessions can be opened. It is given by an
// address or started for the run.
type Service interface {
	Info() Info
	// Dial opens a session and returns when it is established. The context bounds only
	// the opening. While the service cannot be reached, Dial tries again until the context
	// ends, and then fails with its cause. It fails at once only if another attempt cannot
	// help, as with a password that the service refuses. The error names the address.
	Dial(ctx context.Context, o Options) (Conn, error)
	// Close stops and removes what was started for the service, if anything.
	Close() error
}

// ErrHungUp: a server ended a connection before it sent anything. An error of Dial matches it if the last attempt ended
// so.
var ErrHungUp = errors.New("the server closed the connection without an answer: " +
	"it may limit the connections of an address, expect TLS, or be another service")

// ErrSilent: a server accepted a connection and sent nothing on it in time.
var ErrSilent = errors.New("the server does not answer")

// Info describes, in a result, the service on which it was obtained.
type Info struct {
	Name       string // "native", "zookeeper", "etcd"
	URL        string // as given, credentials redacted
	Server     string // product and version, e.g. "ZooKeeper 3.8.0"
	Durability string // "fsync", "no-fsync", "memory", or "unknown" for a given address
	Client     string // the client library, e.g. "go-zookeeper"
	// Reads says what a read may show: "local" (the state of the server that the session
	// is on), "sync" (every write acknowledged before the read), "linearizable" or
	// "serializable".
	Reads string
	// Started says where the service runs: "own process", "3 own processes", the same
	// with "behind proxies" if members can be isolated, "in process", or "" for a given
	// address.
	Started string
	Servers int // number of servers that its sessions are spread over
	// Members are the addresses of the servers, with commas between them, where the URL has a name that stands for
	// several; "" otherwise.
	Members string
	// SessionsOn names the servers on which sessions are opened: "leader" or "followers", "" for all in turn.
	SessionsOn string
	TLS        bool // sessions are encrypted
}

// Lags reports whether a session may read data that is older than a write acknowledged to
// another session before: its server may be behind.
func (i Info) Lags() bool {
	return i.Servers > 1 && (i.Reads == "local" || i.Reads == "serializable")
}

// Ordered reports whether a notification comes before every reply on its connection that shows the change, as
// ZooKeeper promises.
func (i Info) Ordered() bool { return i.Reads == "local" || i.Reads == "sync" }

// Counters are a server's own counts, to compare with ours.
type Counters struct {
	Notifications int64 // watch events sent
	// LargestFanout is the largest number of events of one kind that were sent for one
	// write. If a write fires watches of a node and of its parent, this is less than a
	// Meter's.
	LargestFanout int64
	Reads         int64 // reads and pings, which ZooKeeper counts as one
	Writes        int64 // writes, including failed ones and the opening and closing of sessions
	// Fsyncs are about the server's log; nil if the server does not tell.
	Fsyncs *Fsyncs
	// OurTerms: the server counts in the terms of the contract, so that its counts must
	// equal those of a Probe.
	OurTerms bool
}

// Fsyncs says how often a server had the disk confirm its log.
type Fsyncs struct {
	Count int64
	Took  time.Duration // in all; 0 if it is not known, as of Apache ZooKeeper, which adds up whole milliseconds
}

// A Reading has what each server of a service has counted, always in the same order.
type Reading []ServerCounters

// ServerCounters are what one server has counted in its life.
type ServerCounters struct {
	Counters
	// Began is when the server began to count. Each life of a server has a later one. It is zero for a server
	// that does not tell.
	Began  time.Time
	Within time.Duration // how far off Began may be
}

// Sum sums up what the servers have counted. Each session is counted by the server that it is connected to.
func (r Reading) Sum() (sum Counters) {
	for i, c := range r {
		sum.Notifications += c.Notifications
		sum.LargestFanout = max(sum.LargestFanout, c.LargestFanout)
		sum.Reads += c.Reads
		sum.Writes += c.Writes
		// Servers of one service all tell about their logs, or none does.
		if f := c.Fsyncs; f == nil || i == 0 {
			sum.Fsyncs = f
		} else if sum.Fsyncs != nil {
			sum.Fsyncs = &Fsyncs{Count: sum.Fsyncs.Count + f.Count, Took: sum.Fsyncs.Took + f.Took}
		}
		sum.OurTerms = c.OurTerms
	}
	return sum
}

// Growth returns what the servers have counted since an earlier reading, but for the largest fan-out, of which no
// difference can be told. It returns false if a server may have begun anew in between: nobody knows what it had
// counted by then.
func (r Reading) Growth(before Reading) (Counters, bool) {
	if len(r) == 0 || len(r) != len(before) {
		return Counters{}, false
	}
	var grown Reading
	for i, c := range r {
		b := before[i]
		if c.Began.Sub(b.Began).Abs() > b.Within+c.Within {
			return Counters{}, false
		}
		g := ServerCounters{Counters: Counters{Notifications: c.Notifications - b.Notifications, Reads: c.Reads - b.Reads,
			Writes: c.Writes - b.Writes, Fsyncs: c.Fsyncs.sub(b.Fsyncs), OurTerms: c.OurTerms}}
		if min(g.Notifications, g.Reads, g.Writes) < 0 || g.Fsyncs != nil && (g.Fsyncs.Count < 0 || g.Fsyncs.Took < 0) {
			return Counters{}, false
		}
		grown = append(grown, g)
	}
	return grown.Sum(), true
}

// sub returns nil if either is missing.
func (f *Fsyncs) sub(before *Fsyncs) *Fsyncs {
	if f == nil || before == nil {
		return nil
	}
	return &Fsyncs{Count: f.Count - before.Count, Took: f.Took - before.Took}
}

// ServerStats is a Service whose servers keep counts of their own. Reset sets them to zero,
// Counters reads them.
type ServerStats interface {
	Reset(ctx context.Context) error
	Counters(ctx context.Context) (Reading, error)
}

// An Expirer is a Service that can end a session as its expiry would: the service ends
// the session, and its Conn has to find out.
type Expirer interface {
	Expire(ctx context.Context, c Conn) error
}

// A Reacher is a Service whose servers are given, and that tells which of them it has not reached.
type Reacher interface {
	// Unreached returns the addresses, host:port, to which no connection was made so far, though it was tried.
	Unreached() []string
}

// A Holder is a Service that can tell whether its servers keep a session that was opened through another
// Service: then both have the same servers, whatever their addresses, paths and clients. The session goes
// on, but its connection may break.
type Holder interface {
	Holds(ctx context.Context, c Conn) (bool, error)
}

// A MultiClient is a Service on which several client libraries can open sessions, for the forms
// that only one of them ships.
type MultiClient interface {
	Service
	// Through returns the service with sessions that the named client library opens, or nil if
	// there is none of that name, or if the user chose another one. It ends with this service:
	// its Close does nothing.
	WithClient(client string) Service
}

// A Cutter is a Conn whose connection can be cut, as a network failure would: the session
// stays alive and reconnects by itself.
type Cutter interface {
	Conn
	Cut()
}

// Options say how to open a session. The zero Options are the defaults.
type Options struct {
	// SessionTimeout is how long the service keeps the session without hearing from the
	// client; 0 means DefaultSessionTimeout. The service may clamp it.
	SessionTimeout time.Duration
	// Patience is how long the caller waits for the session; 0: it does not say. A client of several servers leaves one that
	// does not answer early enough to try each of them in that time.
	Patience time.Duration
	// NoEphemerals: the session makes no ephemeral and no sequential nodes. A service without room for what a session
	// keeps there opens it nevertheless, so that nodes can be removed.
	NoEphemerals bool
	// OnState, if set, is called when the session is disconnected, reconnected or ended.
	// It must not block and must not call the Conn.
	OnState func(State)
	// Probe, if set, sees every message.
	Probe Probe
	// LoseReply, if set, is called for every reply before the client sees it. If it
	// returns true, the reply is dropped and the connection cut: the service has executed
	// the request, and the client does not know it. LoseReply may block, which holds up
	// the connection.
	LoseReply func(Message) bool
	// Through, if set, wraps each connection of the session, for instance in a network
	// that is broken on purpose.
	Through func(net.Conn) net.Conn
}

// DefaultSessionTimeout is the session time-out of Options whose SessionTimeout is 0.
const DefaultSessionTimeout = 10 * time.Second

// Validate returns an error that names the invalid field.
func (o Options) Validate() error {
	if o.SessionTimeout != 0 && o.SessionTimeout < LeastSessionTimeout {
		return fmt.Errorf("session time-out %v: must be at least %v", o.SessionTimeout, LeastSessionTimeout)
	}
	return nil
}

// LeastSessionTimeout is the shortest session time-out that ZooKeeper's protocol can name.
const LeastSessionTimeout = time.Millisecond

// A State is the current state of a session.
type State uint8

const (
	Connected State = iota + 1
	Disconnected
	SessionLost    // the service has ended the session, and said so
	SessionGivenUp // the client has ended it, which was disconnected or heard nothing for its time-out; the service may still keep it
	SessionClosed  // the user has closed it
)

// A Librarian is a Conn whose client library ships recipes.
type Librarian interface {
	Conn
	// LibraryForm returns the library's form of a recipe by name ("lock", "election",
	// "queue") at a path, for this number of clients where the recipe needs to know it.
	// The form has the methods that package workloads requires of the recipe's forms,
	// under the same contract except for what its comment says. LibraryForm returns nil
	// if the library ships none. A Conn has at most one form of a recipe per path.
	LibraryForm(recipe, path string, clients int) any
}

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
	// Isolate blocks the traffic between the member and the others in the given
	// directions, and new connections between them, and reports this to none of them:
	// data that is sent waits. Clients with a session on the member reach it as before.
	// Isolate is an error if the ensemble is not divisible, and so are Delay, Throttle
	// and Restore.
	Isolate(Direction) error
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
	// CanHangDisk reports whether HangDisk works on this member: it was started with a
	// file system of its own.
	CanHangDisk() bool
	// HangDisk makes the member's writes to files neither fail nor end until ThawDisk.
	// Until then its process does not react to signals.
	HangDisk(ctx context.Context) error
	// ThawDisk undoes HangDisk: the writes end.
	ThawDisk() error
}

// A Direction is a way that data takes over a connection, as one end of it sees it, or both.
type Direction uint8

const (
	Out  Direction = 1 << iota // what this end sends
	In                         // what this end receives
	Both = Out | In
)

// Reverse returns the direction as the other end sees it.
func (d Direction) Reverse() Direction { return (d&Out)<<1 | (d&In)>>1 }
