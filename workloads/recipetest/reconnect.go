package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A ReconnectForm is a form under test.
type ReconnectForm struct {
	Name string // the form's name in package costmodel
	New  func(random *rand.Rand) recipe.Reconnector
	Library
}

// String implements [Form].
func (f ReconnectForm) String() string { return "reconnect/" + f.Name }

func (f ReconnectForm) cases() []testCase {
	row := workloads.Form{Recipe: "reconnect", Name: f.Name, Family: f.family(), New: recipe.Reconnects(f.New)}
	begin := func(_ context.Context, x *trial) *reconnectTrial { return &reconnectTrial{x, f, row} }
	return append(casesOf(begin, []caseOf[*reconnectTrial]{
		{"outages",
			"After each outage every client comes back once and is registered once, and none gives up.",
			reconnectOutages},
		{"attempts fail",
			"A client tries again for as long as the service does not answer, one attempt at a time, and not after one has succeeded.",
			reconnectAttemptsFail},
		{"refused",
			"A client that the service refuses gets the error: to try again is of no use.",
			reconnectRefused},
		{"canceled",
			"A client that cancels its return tries no more, and gets the cause.",
			reconnectCanceled},
	}), costCases(row)...)
}

// A reconnectTrial is the state of one case.
type reconnectTrial struct {
	*trial
	form ReconnectForm
	row  workloads.Form
}

// policy returns the policy of one client.
func (x *reconnectTrial) policy() recipe.Reconnector { return x.form.New(rand.New(rand.NewPCG(1, 2))) }

func reconnectOutages(ctx context.Context, x *reconnectTrial) {
	const clients, rounds = 8, 3
	r, err := workloads.Run(ctx, workloads.Plan{Service: x.service, Form: x.row, Clients: clients, Rounds: rounds, Seed: 1,
		Settings: workloads.Settings{Outage: 250 * time.Millisecond}})
	switch {
	case err != nil:
		x.Fatalf("running: %v", err)
	case r.Disturbed || r.Safety.Violations > 0 || r.Safety.Checked < rounds*clients:
		x.Errorf("disturbed: %v, %+v; want a check of each client and no violation", r.Disturbed, r.Safety)
	}
	if c := r.Reconnects; c.Outages < rounds || c.Returns != clients*c.Outages || c.Attempts < c.Returns || c.Tenth > c.Second || c.Second > c.Attempts {
		x.Errorf("%+v: want %d clients in each outage, with at least an attempt each", *c, clients)
	}
}

func reconnectAttemptsFail(ctx context.Context, x *reconnectTrial) {
	failures := 2
	if x.bubble {
		failures = 30
	}
	attempts, trying := 0, false
	err := x.policy().Reconnect(ctx, func(ctx context.Context) error {
		if trying {
			x.Errorf("attempt %d begins before the one before has ended", attempts+1)
		}
		trying = true
		defer func() { trying = false }()
		if attempts++; attempts > failures {
			return nil
		}
		workloads.Sleep(ctx, time.Millisecond)
		return fmt.Errorf("attempt %d: %w", attempts, []error{drivers.ErrConnectionLoss, drivers.ErrSessionLost}[attempts%2])
	})
	if err != nil || attempts != failures+1 {
		x.Errorf("%d attempts, error %v; want %d, of which the last succeeds", attempts, err, failures+1)
	}
}

func reconnectRefused(ctx context.Context, x *reconnectTrial) {
	attempts := 0
	err := x.policy().Reconnect(ctx, func(context.Context) error {
		if attempts++; attempts == 10 { // for a form that never stops
			return nil
		}
		return drivers.ErrRefused
	})
	if !errors.Is(err, drivers.ErrRefused) || attempts != 1 {
		x.Errorf("%d attempts, error %v; want one, and its error", attempts, err)
	}
}

func reconnectCanceled(ctx context.Context, x *reconnectTrial) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	attempts := 0
	err := x.policy().Reconnect(ctx, func(context.Context) error {
		switch attempts++; attempts {
		case 2:
			cancel(errCanceled)
		case 10: // for a form that never stops
			return nil
		}
		return drivers.ErrConnectionLoss
	})
	if !errors.Is(err, errCanceled) || attempts != 2 {
		x.Errorf("%d attempts, error %v; want two, and the cause", attempts, err)
	}
}
