package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestReconnectMutantsAreCaught(t *testing.T) { reconnectMutants().areCaught(t) }

// openReconnect is the constructor of a policy.
type openReconnect = func(*rand.Rand) recipe.Reconnector

func reconnectMutants() mutants[openReconnect] {
	type policy = recipe.Reconnector
	right := func(random *rand.Rand) policy { return recipes.NewReconnector(random) }
	form := func(open openReconnect) Form { return ReconnectForm{Name: "full-jitter", New: open} }
	return mutants[openReconnect]{right, form, []mutant[openReconnect]{
		{"gives up", func(random *rand.Rand) policy { return weary{right(random)} },
			[]string{"outages", "attempts fail"}},
		{"does not connect", func(*rand.Rand) policy { return boastful{} },
			[]string{"outages", "attempts fail"}},
		{"comes back twice", func(random *rand.Rand) policy { return doubled{right(random)} },
			[]string{"outages", "attempts fail", "settled cost", "identities"}},
		{"treats a lost session as final", func(random *rand.Rand) policy { return final{right(random)} },
			[]string{"attempts fail"}},
		{"tries again what was refused", func(random *rand.Rand) policy { return insistent{right(random)} },
			[]string{"refused"}},
		{"ignores cancellation", func(random *rand.Rand) policy { return deaf{right(random)} },
			[]string{"canceled"}},
		{"hides the cause of its end", func(random *rand.Rand) policy { return tightLipped{right(random)} },
			[]string{"canceled", "refused"}},
	}}
}

// weary tries once.
type weary struct{ recipe.Reconnector }

func (r weary) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	return r.Reconnector.Reconnect(ctx, func(ctx context.Context) error {
		if err := connect(ctx); err != nil {
			return fmt.Errorf("no luck: %v", err)
		}
		return nil
	})
}

// boastful says that it is back.
type boastful struct{}

func (boastful) Reconnect(context.Context, func(context.Context) error) error { return nil }

// doubled connects once more when it is back.
type doubled struct{ recipe.Reconnector }

func (r doubled) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	if err := r.Reconnector.Reconnect(ctx, connect); err != nil {
		return err
	}
	return connect(ctx)
}

// final returns ErrSessionLost.
type final struct{ recipe.Reconnector }

func (r final) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	return r.Reconnector.Reconnect(ctx, func(ctx context.Context) error {
		err := connect(ctx)
		if errors.Is(err, drivers.ErrSessionLost) {
			return errors.New("the session is lost")
		}
		return err
	})
}

// insistent tries again after any error.
type insistent struct{ recipe.Reconnector }

func (r insistent) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	return r.Reconnector.Reconnect(ctx, func(ctx context.Context) error {
		if connect(ctx) != nil {
			return drivers.ErrConnectionLoss
		}
		return nil
	})
}

// deaf does not notice that its context has ended.
type deaf struct{ recipe.Reconnector }

func (r deaf) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	return r.Reconnector.Reconnect(context.WithoutCancel(ctx), connect)
}

// tightLipped hides every error.
type tightLipped struct{ recipe.Reconnector }

func (r tightLipped) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	if r.Reconnector.Reconnect(ctx, connect) != nil {
		return errors.New("not back")
	}
	return nil
}
