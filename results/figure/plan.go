package figure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// A Plan says what decides which figures a run has. The zero Plan is of a closed loop on a service that is given by its
// address.
type Plan struct {
	Recipe       string
	Fair         bool     // the recipe grants something to one client after the other
	Without      []string // see [results.Run]
	Rate         bool     // arrivals come at a rate, in an open loop
	Transactions bool     // of a mix
	Started      bool     // the run starts the servers, in processes of their own
	Memory       bool     // the servers keep no log on a disk
	Short        bool     // the window is certain to end within two seconds
	Faults       bool
	// What the background load does.
	Background, BackgroundRate, BackgroundReads, BackgroundWrites bool
}

// PlanOf returns the plan of a run: of one that was done, or of one that is to be done and has no measurements.
func PlanOf(r results.Run) Plan {
	p := Plan{Recipe: r.Recipe, Fair: r.Fairness != nil, Without: r.Without, Rate: r.Open != nil || r.Generator.Offered > 0,
		Transactions: r.Mix != nil && r.Mix.Txns > 0, Started: strings.Contains(r.Backend.Started, "own process"),
		Memory: r.Backend.Durability == "memory", Short: 0 < r.DurationNS && r.DurationNS < 2*time.Second, Faults: r.Faults != nil}
	if b := r.Background; b != nil {
		p.Background, p.BackgroundRate = true, b.RatePerS > 0
		p.BackgroundReads, p.BackgroundWrites = b.ReadRatio.Asked > 0, b.ReadRatio.Asked < 1
	}
	return p
}

// A need is what a plan must have so that its runs can have a figure.
type need struct {
	what string // completes "runs have it only with"
	met  func(Plan) bool
}

// What figures need.
var (
	aRate           = &need{"arrivals at a rate, as with --rate", func(p Plan) bool { return p.Rate }}
	aBackground     = &need{"a background load, as with --background", func(p Plan) bool { return p.Background }}
	aBackgroundRate = &need{"a background load at a rate, as with --background rate=1000", func(p Plan) bool { return p.BackgroundRate }}
	backgroundReads = &need{"a background load that reads, as with --background reads=0.5", func(p Plan) bool { return p.BackgroundReads }}
	backgroundSets  = &need{"a background load that writes, as with --background reads=0.5", func(p Plan) bool { return p.BackgroundWrites }}
	startedServers  = &need{"servers that the run starts, as with --backend native:", func(p Plan) bool { return p.Started }}
	aLog            = &need{"servers that keep a log on a disk", func(p Plan) bool { return !p.Memory }}
	faults          = &need{"faults, as with --fault", func(p Plan) bool { return p.Faults }}
	grants          = &need{"a recipe that serves one client after the other, such as a lock or a queue", func(p Plan) bool { return p.Fair }}
	aMix            = &need{"the recipe mix", ofRecipe("mix")}
	transactions    = &need{"a mix with transactions, as with --txns", func(p Plan) bool { return p.Transactions }}
	aFanout         = &need{"the recipe fanout", ofRecipe("fanout")}
	outages         = &need{"the recipe reconnect", ofRecipe("reconnect")}
	notifications   = &need{"writes that notify a session: clients that do not poll, two or more in each group, or a mix with --watchers", have("notifications")}
	wakeUps         = &need{"clients that wait for each other and do not poll, two or more in each group", have("wake-ups")}
	twoSeconds      = &need{"a window of two whole seconds, as with --duration 5s", func(p Plan) bool { return !p.Short }}
)

func ofRecipe(name string) func(Plan) bool { return func(p Plan) bool { return p.Recipe == name } }

// phaseOf returns the need of the figures of a phase.
func phaseOf(phase string) *need {
	return &need{"settings with which the recipe has the phase " + phase, have(phase)}
}

// have returns a condition that plans meet whose runs can have something.
func have(name string) func(Plan) bool {
	return func(p Plan) bool { return !slices.Contains(p.Without, name) }
}

// PossibleIn reports whether runs of the plan can have the figure.
func (f Figure) PossibleIn(p Plan) bool { return f.needs == nil || f.needs.met(p) }

// LiveIn reports whether a run of the plan can have the figure while it is in progress.
func (f Figure) LiveIn(p Plan) bool {
	return f.Live() && f.PossibleIn(p) && (f.endsWithout == nil || f.endsWithout.met(p))
}

// Needs says what runs must have so that they can have the figure, "" if all can.
func (f Figure) Needs() string {
	if f.needs == nil {
		return ""
	}
	return f.needs.what
}

// Lacking returns the error of a plan whose runs cannot have the figure, in one line.
func (f Figure) Lacking() error { return fmt.Errorf("runs have %s only with %s", f.Name, f.Needs()) }
