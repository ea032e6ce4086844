package drivers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func TestAwaitReturnsTheFirstEvent(t *testing.T) {
	for _, order := range []string{"fired before", "fired while waiting"} {
		t.Run(order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w drivers.Wait
				fire := func() {
					w.Fire(drivers.Event{Type: drivers.Deleted, Path: "/first"})
					w.Fire(drivers.Event{Type: drivers.Created, Path: "/second"})
				}
				if order == "fired before" {
					fire()
				} else {
					go fire()
				}
				if e, err := w.Await(t.Context()); err != nil || e.Path != "/first" {
					t.Errorf("Await = %v, %v; want the event at /first", e, err)
				}
			})
		})
	}
}

func TestAwaitTellsWhyNothingCame(t *testing.T) {
	var lost drivers.Wait
	lost.Fire(drivers.Event{Type: drivers.Lost})
	if _, err := lost.Await(t.Context()); !errors.Is(err, drivers.ErrSessionLost) {
		t.Errorf("after Lost: %v, want ErrSessionLost", err)
	}

	why := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	var w drivers.Wait
	if _, err := w.Await(ctx); !errors.Is(err, why) {
		t.Errorf("after the context ended: %v, want its cause", err)
	}
	w.Fire(drivers.Event{Type: drivers.Deleted}) // late, and harmless
}

// Whoever looks at a spot must never find a client parked whose watch has fired.
func TestSpotIsLeftBeforeTheWaiterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spot := &drivers.Spot{}
		ctx := drivers.WithSpot(t.Context(), spot)
		var w drivers.Wait
		go w.Await(ctx)
		synctest.Wait()
		parked, before := spot.Parked()
		if !parked {
			t.Fatal("a client that waits is not parked")
		}
		w.Fire(drivers.Event{Type: drivers.Deleted})
		if parked, after := spot.Parked(); parked || after == before {
			t.Errorf("just after Fire: parked %v, moves %d → %d; want not parked, moved", parked, before, after)
		}
	})
}

func TestSpotIsLeftWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spot := &drivers.Spot{Ticks: true}
		for name, wait := range map[string]func(context.Context){
			"Await": func(ctx context.Context) { var w drivers.Wait; w.Await(ctx) },
			"Pause": func(ctx context.Context) { drivers.Pause(ctx, time.Hour) },
		} {
			ctx, cancel := context.WithCancel(drivers.WithSpot(t.Context(), spot))
			go wait(ctx)
			synctest.Wait()
			if parked, _ := spot.Parked(); !parked {
				t.Errorf("%s: not parked", name)
			}
			cancel()
			synctest.Wait()
			if parked, _ := spot.Parked(); parked {
				t.Errorf("%s: still parked after its context ended", name)
			}
		}
	})
}

func TestPauseWaitsForTheTickWhereTicksAreInjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spot := &drivers.Spot{Ticks: true}
		if spot.Tick() {
			t.Error("Tick ended a Pause that there was not")
		}
		paused := make(chan error, 1)
		go func() { paused <- drivers.Pause(drivers.WithSpot(t.Context(), spot), time.Millisecond) }()
		time.Sleep(time.Hour) // of the bubble's clock
		select {
		case <-paused:
			t.Fatal("Pause went by the clock")
		default:
		}
		if !spot.Tick() {
			t.Error("Tick found no Pause")
		}
		if err := <-paused; err != nil {
			t.Error(err)
		}
	})
}

func TestPauseGoesByTheClockOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := drivers.Pause(drivers.WithSpot(t.Context(), &drivers.Spot{}), time.Minute); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("paused for %v, want a minute", d)
		}
	})
}
