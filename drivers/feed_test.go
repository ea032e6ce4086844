package drivers_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func event(t drivers.EventType) drivers.Event { return drivers.Event{Type: t, Path: "/a"} }

func TestFeedReturnsAllSinceTheLast(t *testing.T) {
	var f drivers.Feed
	for _, want := range [][]drivers.Event{
		{event(drivers.Created)},
		{event(drivers.DataChanged), event(drivers.DataChanged), event(drivers.Deleted)},
	} {
		for _, e := range want {
			f.Fire(e)
		}
		if got, err := f.Await(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
}

func TestFeedParksUntilTheNext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var f drivers.Feed
		var spot drivers.Spot
		got := make(chan []drivers.Event, 1)
		for range 2 {
			go func() {
				events, err := f.Await(drivers.WithSpot(t.Context(), &spot))
				if err != nil {
					t.Error(err)
				}
				got <- events
			}()
			synctest.Wait()
			if parked, _ := spot.Parked(); !parked {
				t.Fatal("not parked, though nothing has happened")
			}
			f.Fire(event(drivers.Deleted))
			if parked, _ := spot.Parked(); parked {
				t.Error("still parked when the watch has fired")
			}
			if events := <-got; !slices.Equal(events, []drivers.Event{event(drivers.Deleted)}) {
				t.Errorf("got %v, want one deletion", events)
			}
		}
	})
}

func TestFeedEnds(t *testing.T) {
	var f drivers.Feed
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Await(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	f.Fire(event(drivers.Created)) // for the next Await
	if events, err := f.Await(t.Context()); err != nil || len(events) != 1 {
		t.Errorf("got %v (%v), want one event", events, err)
	}
	f.Fire(event(drivers.Created))
	f.Fire(drivers.Event{Type: drivers.Lost})
	for range 2 {
		if _, err := f.Await(t.Context()); !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("got %v, want %v", err, drivers.ErrSessionLost)
		}
	}
}
