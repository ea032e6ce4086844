package results

import (
	"slices"
	"testing"
	"time"
)

// Ids sort by start time, whatever the recipes' names, and stay short enough for people.
func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 31, 5, 22_871_000, time.UTC)
	ids := []string{
		id(at, []string{"queue"}),
		id(at.Add(time.Microsecond), []string{"lock", "names"}),
		id(at.Add(time.Second), []string{"barrier", "config", "lock", "queue"}),
	}
	want := []string{"20261121-093105-022871-queue", "20261121-093105-022872-lock-names", "20261121-093106-022871-4-recipes"}
	if !slices.Equal(ids, want) || !slices.IsSorted(ids) {
		t.Errorf("ids %v, want %v", ids, want)
	}
}
