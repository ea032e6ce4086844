package workloads

import (
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Family says what a form is to be judged as.
type Family string

const (
	// Recipe forms avoid the herd.
	Recipe Family = "recipe"
	// Naive forms are as correct and wake more clients than can go on.
	Naive Family = "naive"
	// Library forms are what a client library ships.
	Library Family = "library"
	// Load is no form of a recipe, but something else that a service bears: there
	// is no herd to avoid.
	Load Family = "load"
)

// Families are all families, in the order in which they are shown.
func Families() []Family { return []Family{Recipe, Naive, Library, Load} }

// A Need is something that a form needs of a session and that not every client
// library can do. The zero Need is nothing.
type Need string

// PersistentWatches are those of a [drivers.PersistentWatcher].
const PersistentWatches Need = "persistent watches"

// Cuts are those of a [drivers.Cutter].
const Cuts Need = "connections that can be cut"

// MetBy tells whether a session can do it.
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

// A Form is one way to do a recipe: a row of the catalogue.
type Form struct {
	Recipe  string // "lock"
	Name    string // "predecessor"
	Family  Family
	Summary string // what it does, in one line without a full stop
	// Source is where it comes from, if that is not ZooKeeper's page of recipes,
	// the naive counterpart of what that says, or the library.
	Source string
	// Client is the client library that a library form belongs to, or "" for
	// a form that runs on any.
	Client string
	// Needs is what the form needs that not every client can do.
	Needs Need
	// New makes the workload of one run in this form.
	New func(Settings) Workload
}

// ServedBy tells whether a service's client library can run the form.
func (f Form) ServedBy(i drivers.Info) bool { return f.Client == "" || f.Client == i.Client }

// String is the form's full name, "lock/predecessor".
func (f Form) String() string { return f.Recipe + "/" + f.Name }

// Phases are what runs of the form time, by name and in the order of the
// alphabet.
func (f Form) Phases() []string {
	timings := map[string]*metrics.Latency{}
	f.New(Settings{timings: timings})
	return slices.Sorted(maps.Keys(timings))
}
