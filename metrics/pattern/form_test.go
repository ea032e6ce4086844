package pattern

import "testing"

// TestAThreadIsNoReader checks which names are those of readers in a line.
func TestAThreadIsNoReader(t *testing.T) {
	for name, want := range map[string]bool{"/thread-1": false, "/read-1": true, "/x-read-1": true, "/__READ__1": true, "/spreader-1": false} {
		if got := IsReader(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
