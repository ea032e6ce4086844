package tree

import (
	"math/rand/v2"
	"testing"
)

// Entries of a table are found, and no others are, even if all share a few home slots at either
// end.
func TestTableWithFewHomes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var tab table
	want := map[int32]uint32{}
	for range 20_000 {
		place := r.Int32N(40)
		if hash, there := want[place]; there {
			tab.remove(hash, place)
			delete(want, place)
		} else {
			want[place] = r.Uint32N(3) - 2
			if tab.full(len(want)) {
				tab = tab.grown()
			}
			tab.add(slotOf(want[place], place))
		}
		used := 0
		for _, s := range tab {
			if s.used() {
				used++
			}
		}
		if used != len(want) {
			t.Fatalf("%d slots for %d", used, len(want))
		}
		for place, hash := range want {
			if i := reach(tab, hash, place); i < 0 {
				t.Fatalf("%d is in none of the slots from the home of %#x to a free one", place, hash)
			}
		}
	}
}

// reach returns the slot of the place, or -1 if a free slot comes before it.
func reach(t table, hash uint32, place int32) int {
	for i := t.home(hash); t[i].used(); i = t.next(i) {
		if t[i] == slotOf(hash, place) {
			return i
		}
	}
	return -1
}
