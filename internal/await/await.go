// Package await lets tests wait for events, with a limit that only a defect reaches: a test fails with what it
// waited for, instead of hanging until go test ends all tests of its package.
package await

import (
	"testing"
	"time"
)

// Limit is how long a test waits for an event. No busy machine takes that long.
const Limit = 2 * time.Minute

// True waits until a condition holds, which it tests again and again in the test's own goroutine. What was awaited completes
// the sentence "it does not come to this".
func True(t testing.TB, awaited string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(began) > Limit {
			t.Fatalf("in %v it does not come to this: %s", Limit, awaited)
		}
	}
}

// Value waits until a channel has a value, or is closed, and returns it. What was awaited completes the sentence "it does not
// come to this".
func Value[T any](t testing.TB, awaited string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(Limit):
		t.Fatalf("in %v it does not come to this: %s", Limit, awaited)
	}
	return value
}
