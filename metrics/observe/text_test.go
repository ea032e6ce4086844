package observe

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// TestKeysThatAreNotTextStayApart reads back the report of two keys whose bytes are no text: each has its place, and the
// names of all that is reported of them are those that were written.
func TestKeysThatAreNotTextStayApart(t *testing.T) {
	s := newStage()
	writer, watcher := s.session(1), s.session(2)
	keys := []string{"k\xff", "k\xfe"}
	for _, key := range keys {
		watcher.watch(key)
		writer.set(key)
		watcher.told(drivers.DataChanged, key)
		watcher.get(key)
	}
	text, err := json.Marshal(s.a.Report())
	if err != nil {
		t.Fatal(err)
	}
	var r observation.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var places, largest []string
	for _, p := range r.Places {
		places = append(places, p.Path)
	}
	for _, c := range r.Largest {
		largest = append(largest, c.Path)
	}
	slices.Sort(places)
	slices.Sort(largest)
	want := []string{`k\xfe`, `k\xff`}
	if !slices.Equal(places, want) || !slices.Equal(largest, want) {
		t.Errorf("places %q and changes %q, want %q", places, largest, want)
	}
}
