package workloads

import (
	"context"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A Background is a mix that runs beside a recipe, during its warm-up and its window. It shows the
// recipe's effect on unrelated clients. The zero Background is none.
type Background struct {
	Clients int
	Rate    float64 // operations per second; 0 for a closed loop
	Form    Form    // such as a mix
	Mix     MixSettings
}

// endless is how long a background's arrivals continue if nothing ends them.
const endless = 24 * time.Hour

// plan returns the background's own plan, for the same service.
func (b Background) plan(p Plan) Plan {
	mix := Plan{
		Service: p.Service, Form: b.Form, Clients: b.Clients,
		Settings: Settings{Mix: b.Mix, Namespace: p.Settings.Namespace, ConnectTimeout: p.Settings.ConnectTimeout, Joining: p.Settings.Joining}, Warmup: p.Warmup, Duration: endless,
		Seed:   p.Seed + 1, // other random choices than the recipe's
		window: p.window, faulty: p.faulty,
	}
	mix.Open.Rate = openloop.PerSecond(b.Rate)
	return mix
}

// A backgroundLoad is a background in progress. All methods accept a nil backdrop and do nothing.
type backgroundLoad struct {
	*runner
	clients *sync.WaitGroup
	abandon context.CancelFunc
	record  metrics.Record
}

func newBackground(ctx context.Context, mix Plan, c *Pool) *backgroundLoad {
	return &backgroundLoad{runner: newRunner(ctx, mix, c)}
}

// start starts the clients. If they fail, the recipe stops too.
func (b *backgroundLoad) start(recipe *runner) {
	if b == nil {
		return
	}
	b.rounds, b.abandon = context.WithCancel(b.rounds)
	b.openLoop(time.Now().Add(b.plan.Warmup))
	b.clients = b.startClients()
	go func() {
		<-b.stop
		recipe.halt()
	}()
}

// leaveService ends the operations in progress: the recipe no longer waits for the service.
func (b *backgroundLoad) leaveService() {
	if b != nil {
		b.abandon()
		b.pool.leave()
	}
}

// begin takes the counts of the messages before the window, which the recipe has opened.
func (b *backgroundLoad) begin() {
	if b != nil {
		b.openWindow()
	}
}

// end takes the counts when the recipe has closed the window. Work that was due in it and is not done
// continues.
func (b *backgroundLoad) end() {
	if b == nil {
		return
	}
	b.closeWindow()
	b.record.Duration, b.record.Counts = b.window.Elapsed(time.Now()), b.windowCounts()
	if b.pacer == nil {
		b.pool.turns.Snapshot().Fill(&b.record, b.pool.instances[0].Together())
	}
}

// soFar returns the results of the window up to now: how long operations took, what they were, and
// the state of the open loop. It returns nil without a background.
func (b *backgroundLoad) soFar() *metrics.Record {
	if b == nil {
		return nil
	}
	r := metrics.Record{Duration: b.window.Elapsed(time.Now()), Counts: b.windowCounts(), Rounds: b.done()}
	b.fillOpenLoop(&r.Generator)
	b.pool.instances.fill(&r)
	return &r
}

// finish waits for the clients and returns the results, or nil without a background.
func (b *backgroundLoad) finish(ctx context.Context) *metrics.Record {
	if b == nil {
		return nil
	}
	b.drain(ctx, &b.record)
	b.halt()
	b.awaitEnd(b.clients, b.abandon, &b.record)
	b.abandon()
	b.record.Disturbed = b.allErrs > 0 || b.cut
	b.fillRounds(&b.record)
	b.record.Safety = b.pool.instances.verdict().WithDelivery(b.pool.Meter.Delivery())
	b.record.Errors = b.errors
	return &b.record
}

// WithBackground adds the safety violations of the background, if there is one, to the recipe's.
func WithBackground(s metrics.Safety, background *metrics.Record) metrics.Safety {
	if background == nil {
		return s
	}
	wrong := metrics.Safety{Violations: background.Safety.Violations}
	for _, detail := range background.Safety.Details {
		wrong.Details = append(wrong.Details, "background: "+detail)
	}
	return s.Add(wrong, check.MaxDetails)
}

// err returns the error that stopped the background.
func (b *backgroundLoad) err() error {
	if b == nil {
		return nil
	}
	return b.failure
}
