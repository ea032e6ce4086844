package drivers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func TestAwaitReturnsTheFirstEvent(t *testing.T) {
	for _, order := range []string{"fired before", "fired while waiting"} {
		t.Run(order, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
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

func TestAwaitAnyTellsWhichHasFired(t *testing.T) {
	for _, when := range []string{"fired before", "fired while waiting"} {
		for second := range 3 {
			t.Run(fmt.Sprintf("%s, %d", when, second), func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					spot := &drivers.Spot{}
					ctx := drivers.WithSpot(t.Context(), spot)
					var waits [3]drivers.Wait
					if when == "fired before" {
						waits[second].Fire(drivers.Event{Type: drivers.Deleted})
					} else {
						go func() {
							synctest.Wait()
							if parked, _ := spot.Parked(); !parked {
								t.Error("no client is parked")
							}
							waits[second].Fire(drivers.Event{Type: drivers.Deleted})
							if parked, _ := spot.Parked(); parked {
								t.Error("who is woken is still parked")
							}
						}()
					}
					fired, err := drivers.AwaitAny(ctx, &waits[0], &waits[1], &waits[2])
					if fired != second || err != nil {
						t.Errorf("AwaitAny = %d, %v; want %d", fired, err, second)
					}
				})
			})
		}
	}
}

// A watch that fires while no goroutine waits for it moves no client, and its event is
// not lost.
func TestAwaitAnyLeavesTheOthersAlone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		spot := &drivers.Spot{}
		ctx, cancel := context.WithCancel(drivers.WithSpot(t.Context(), spot))
		var first, other drivers.Wait
		first.Fire(drivers.Event{Type: drivers.Deleted})
		if fired, err := drivers.AwaitAny(ctx, &other, &first); fired != 1 || err != nil {
			t.Errorf("AwaitAny = %d, %v; want 1", fired, err)
		}
		cancel()
		if _, err := drivers.AwaitAny(ctx, &other); !errors.Is(err, context.Canceled) {
			t.Errorf("AwaitAny = %v, want %v", err, context.Canceled)
		}
		_, before := spot.Parked()
		other.Fire(drivers.Event{Type: drivers.Lost})
		if _, after := spot.Parked(); after != before {
			t.Error("a watch that no client waits for has moved the client")
		}
		if fired, err := drivers.AwaitAny(t.Context(), &first, &other); fired != 0 || err != nil {
			t.Errorf("AwaitAny of two = %d, %v; want the first", fired, err)
		}
		if _, err := drivers.AwaitAny(t.Context(), &other); !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("AwaitAny = %v, want %v", err, drivers.ErrSessionLost)
		}
	})
}

// An observer of a spot must never find a client parked whose watch has fired.
func TestSpotIsLeftBeforeTheWaiterRuns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
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
	bubble.Test(t, func(t *testing.T) {
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
	bubble.Test(t, func(t *testing.T) {
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
	bubble.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := drivers.Pause(drivers.WithSpot(t.Context(), &drivers.Spot{}), time.Minute); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("paused for %v, want a minute", d)
		}
	})
}
