package workloads

import (
	"context"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Workload is one recipe in one form, ready for one run.
type Workload interface {
	// Attach prepares for the clients, of all processes, whose nodes are below base. admin is a session whose
	// requests are not counted.
	Attach(admin drivers.Conn, base string, clients int)
	// Setup creates the nodes that all clients share. Their parent exists.
	Setup(ctx context.Context, c drivers.Conn) error
	// Join creates the client of a slot.
	Join(s *Slot) (Client, error)
	// Together reports whether a round takes all clients: either all of them take their n-th turn
	// or none does, so that no client waits for one that has stopped.
	Together() bool
	// Lap returns the response times of the recipe's first phase since the last call of Lap.
	Lap() metrics.Lap
	// Fill fills in what the workload has measured so far, such as Phases and Fairness. Rounds is how
	// many rounds have their times in Phases.
	Fill(r *metrics.Record)
	// Verdict returns the findings of the safety check since Attach. Call it when every round that
	// began has ended.
	Verdict() metrics.Safety
}

// A Client takes one turn after the other.
type Client interface {
	// Turn does the client's next piece of work, a whole round or its part in one, and returns how
	// many rounds ended with it. After an error that reports a lost session the client is not used
	// again: its slot opens a new session and joins again.
	Turn(ctx context.Context) (rounds int64, err error)
}

// A Finisher is a Client with work to do when no more turns begin, for instance to take the items
// that others have put.
type Finisher interface {
	// Finish does that work and returns how many rounds ended with it. After an error that reports
	// a lost session, the slot joins again and the new client is asked to finish.
	Finish(ctx context.Context) (rounds int64, err error)
}

// A leader workload has rounds with a leader that is not one of the clients: it opens a barrier, for
// instance, or coordinates a transaction. The leader has a slot of its own, after the clients'
// slots, and its session is counted like theirs.
type leader interface{ Leads() bool }

// An observed workload has additional sessions, after its clients', that only watch what the clients
// do.
type observed interface{ Observers() int }

// A Family is the kind of a form. It decides by which standard the form is judged.
type Family string

const (
	// Recipe forms avoid the herd effect.
	Recipe Family = "recipe"
	// Naive forms are equally correct but wake more clients than can make progress.
	Naive Family = "naive"
	// Library forms are implementations that a client library ships.
	Library Family = "library"
	// Load is not a form of a recipe but other load on a service: it has no herd to avoid.
	Load Family = "load"
)

// Families returns all families in display order.
func Families() []Family { return []Family{Recipe, Naive, Library, Load} }

// A Need is a capability of the session that a form requires and that some client libraries lack.
// The zero Need requires nothing.
type Need string

// PersistentWatches requires a [drivers.PersistentWatcher].
const PersistentWatches Need = "persistent watches"

// Cuts requires a [drivers.Cutter].
const Cuts Need = "connections that can be cut"

// MetBy reports whether the session has the capability.
func (n Need) MetBy(c drivers.Conn) bool {
	ok := true
	switch n {
	case PersistentWatches:
		_, ok = c.(drivers.PersistentWatcher)
	case Cuts:
		_, ok = c.(drivers.Cutter)
	}
	return ok
}

// A Form is one implementation of a recipe: a row of the catalogue.
type Form struct {
	Recipe  string // "lock"
	Name    string // "predecessor"
	Family  Family
	Summary string // what it does, in one line without a full stop
	// Source says where the form comes from, unless that is ZooKeeper's recipes page, the naive
	// counterpart of such a recipe, or the library.
	Source string
	// Client is the client library that a library form belongs to; "" for a form that runs on
	// every client library.
	Client string
	// Needs is the capability that the form requires and that some client libraries lack.
	Needs Need
	// Notifies says whose sessions a client's writes can notify.
	Notifies Notified
	New      Constructor
}

// Notified says whose sessions the writes of a form's client can notify.
type Notified int

const (
	Anyone Notified = iota // also its own
	Others                 // those of other clients of the instance only
	NoOne                  // none: no client watches what is written
)

// A Constructor creates the workload of one run.
type Constructor = func(Settings) Workload

// ServiceFor returns the service with sessions that the form's client library opens, if the form has one,
// and otherwise the service itself. It returns nil if the form cannot run on the service.
func (f Form) ServiceFor(s drivers.Service) drivers.Service {
	if f.Client == "" || f.Client == s.Info().Client {
		return s
	}
	if m, ok := s.(drivers.MultiClient); ok {
		return m.WithClient(f.Client)
	}
	return nil
}

// String returns the form's full name, such as "lock/predecessor".
func (f Form) String() string { return f.Recipe + "/" + f.Name }

// FollowedPhase returns the phase of whose times [Progress] tells while the plan is executed.
func (p Plan) FollowedPhase() string { return p.Form.New(p.Settings).Lap().Phase }

// A granting workload grants something to one client after the other, so that its runs have a fairness.
type granting interface{ Grants() }

// Fair reports whether runs of the form have a fairness.
func (f Form) Fair() bool {
	_, ok := f.New(Settings{}).(granting)
	return ok
}

// What a run can be without, besides phases.
const (
	Notifications = "notifications" // no write can notify a session
	WakeUps       = "wake-ups"      // no session waits for what another client does
)

// A varied workload has phases and notifications only with some settings.
type varied interface {
	// Phases returns the phases that can occur.
	Phases() []string
	// Notifies reports whether writes can notify sessions.
	Notifies() bool
}

// A shared workload is one in which clients wait for each other.
type shared interface {
	// NeedsTwo returns what runs have only if at least two clients share an instance.
	NeedsTwo() []string
}

// Lacks returns what runs of the plan cannot have: phases of the form, [Notifications] and [WakeUps]. A mix of reads
// alone has no writes, for instance, and a single client takes over from nobody, unless faults end its session.
func (p Plan) Lacks(faults bool) (all []string) {
	w, alone, notifies := p.Form.New(p.Settings), p.Clients == max(p.Groups, 1) && !faults, p.Form.Notifies != NoOne
	if v, is := w.(varied); is {
		has := v.Phases()
		all = slices.DeleteFunc(p.Form.Phases(), func(phase string) bool { return slices.Contains(has, phase) })
		notifies, all = v.Notifies(), append(all, WakeUps) // sessions that watch wait for nothing
	}
	if s, is := w.(shared); is && alone {
		all = append(all, s.NeedsTwo()...)
	}
	if !notifies || alone && p.Form.Notifies == Others {
		all = append(all, Notifications, WakeUps)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Phases returns the names of the phases that runs of the form measure, in alphabetical order.
func (f Form) Phases() []string {
	timings := map[string]*metrics.Latency{}
	f.New(Settings{timings: timings})
	return slices.Sorted(maps.Keys(timings))
}
