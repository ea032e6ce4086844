package workloads

import (
	"context"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// A Background is a mix that runs beside a recipe, during its warm-up and its window. It shows the
// recipe's effect on unrelated clients. The zero Background is none.
type Background struct {
	Clients int
	Rate    float64 // operations per second; 0 for a closed loop
	Mix     MixSettings
}

// unending is how long a background's arrivals continue if nothing ends them.
const unending = 24 * time.Hour

// plan returns the background's own plan, for the same service.
func (b Background) plan(p Plan) Plan {
	mix := Plan{
		Service: p.Service, Form: Form{Recipe: "mix", Name: "background", Family: Load, New: Mixes}, Clients: b.Clients,
		Settings: Settings{Mix: b.Mix, Namespace: p.Settings.Namespace}, Warmup: p.Warmup, Duration: unending,
		Seed:  p.Seed + 1, // other random choices than the recipe's
		rough: p.rough,
	}
	if b.Rate > 0 {
		mix.Open = pace.Options{Rate: pace.Of(b.Rate)}
	}
	return mix
}

// A backdrop is a background in progress. All methods accept a nil backdrop and do nothing.
type backdrop struct {
	*runner
	clients *sync.WaitGroup
	abandon context.CancelFunc
	opened  time.Time
	before  metrics.Counts

	seen   sync.Mutex // guards shut, and guards record until shut is set
	shut   bool
	record metrics.Record
}

// raise opens the clients' sessions. The caller must call dismiss whether or not raise fails.
func (b Background) raise(ctx context.Context, p Plan) (*backdrop, error) {
	if b.Clients == 0 {
		return nil, nil
	}
	plan := b.plan(p)
	c := newCrew(plan)
	return &backdrop{runner: newRunner(ctx, plan, c)}, c.muster(ctx, plan)
}

func (b *backdrop) dismiss() error {
	if b == nil {
		return nil
	}
	return b.crew.dismiss()
}

// start starts the clients. If they fail, the recipe stops too.
func (b *backdrop) start(recipe *runner) {
	if b == nil {
		return
	}
	b.rounds, b.abandon = context.WithCancel(b.rounds)
	b.openLoop()
	b.clients = b.startClients()
	go func() {
		<-b.stop
		recipe.halt()
	}()
}

// begin opens the window.
func (b *backdrop) begin() {
	if b == nil {
		return
	}
	b.crew.meter.Begin()
	b.crew.instances.begin()
	b.crew.cycles.open()
	b.opened, b.before = time.Now(), b.crew.meter.Counts()
}

// end closes the window. Work that was due in it and is not done continues.
func (b *backdrop) end() {
	if b == nil {
		return
	}
	b.seen.Lock()
	defer b.seen.Unlock()
	b.shut = true
	b.record.Duration, b.record.Counts = time.Since(b.opened), b.crew.meter.Counts().Sub(b.before)
	b.crew.instances.end(&b.record)
	turns := b.crew.cycles.now()
	b.crew.meter.End()
	if b.pacer != nil {
		b.pacer.End()
		return
	}
	turns.tell(&b.record, b.crew.instances[0].Together())
}

// soFar returns the results of the window up to now: how long operations took, what they were, and
// the state of the open loop. It returns nil without a background.
func (b *backdrop) soFar() *metrics.Record {
	if b == nil {
		return nil
	}
	b.seen.Lock()
	defer b.seen.Unlock()
	r := metrics.Record{Duration: b.record.Duration, Counts: b.record.Counts, Rounds: b.record.Rounds, Phases: b.record.Phases, Mix: b.record.Mix}
	if !b.shut {
		r.Duration, r.Counts = time.Since(b.opened), b.crew.meter.Counts().Sub(b.before)
	}
	b.standing(&r.Generator)
	switch {
	case !b.shut:
		b.crew.instances.end(&r)
	case b.pacer != nil:
		b.crew.instances.timed(&r)
	}
	return &r
}

// finish waits for the clients and returns the results, or nil without a background.
func (b *backdrop) finish() *metrics.Record {
	if b == nil {
		return nil
	}
	b.drain(&b.record)
	b.halt()
	b.letEnd(b.clients, b.abandon, &b.record)
	b.abandon()
	if b.pacer != nil {
		b.crew.instances.timed(&b.record)
	}
	b.record.Safety = b.crew.instances.verdict()
	b.record.Errors = b.errors
	return &b.record
}

// voids adds the background's safety violations to the recipe's.
func (b *backdrop) voids(s metrics.Safety) metrics.Safety {
	if b == nil {
		return s
	}
	wrong := metrics.Safety{Violations: b.record.Safety.Violations}
	for _, detail := range b.record.Safety.Details {
		wrong.Details = append(wrong.Details, "background: "+detail)
	}
	return s.With(wrong, maxDetails)
}

// broke returns the error that stopped the background.
func (b *backdrop) broke() error {
	if b == nil {
		return nil
	}
	return b.failure
}
