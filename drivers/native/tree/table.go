package tree

import "hash/maphash"

// A table says at which place of a list something may be, by the hash of its
// name. As the names are in the list only, it takes a fraction of a map's room,
// and none that a collection of garbage looks at.
//
// It is a power of two of slots. What is added takes the first free one from its
// home, which its hash gives, so there is never a free one on the way to it.
type table []slot

// A slot is free as long as it is zero.
type slot struct {
	hash  uint32
	count int32 // the places from the list's first up to this one
}

// seed makes it impossible to think of names with the same hash. No order that
// anybody sees depends on it.
var seed = maphash.MakeSeed()

func hashOf(name string) uint32 { return uint32(maphash.String(seed, name)) }

func slotOf(hash uint32, place int32) slot { return slot{hash, place + 1} }

func (s slot) used() bool { return s.count != 0 }

func (s slot) place() int32 { return s.count - 1 }

func (t table) home(hash uint32) int { return int(hash) & (len(t) - 1) }

func (t table) next(i int) int { return (i + 1) & (len(t) - 1) }

// distance is how many steps lead from one slot to another.
func (t table) distance(from, to int) int { return (to - from) & (len(t) - 1) }

// full tells whether so many are too many for searches to be short.
func (t table) full(count int) bool { return count > len(t)/4*3 }

// grown returns a table with the same in it and twice the room.
func (t table) grown() table {
	larger := make(table, max(4, 2*len(t)))
	for _, s := range t {
		if s.used() {
			larger.add(s)
		}
	}
	return larger
}

func (t table) add(s slot) {
	i := t.home(s.hash)
	for t[i].used() {
		i = t.next(i)
	}
	t[i] = s
}

// find returns where the place is, which must be in the table.
func (t table) find(hash uint32, place int32) int {
	i := t.home(hash)
	for t[i] != slotOf(hash, place) {
		i = t.next(i)
	}
	return i
}

// remove frees the slot of the place, and fills it again with the next that may
// be there: the way to those behind must not be broken.
func (t table) remove(hash uint32, place int32) {
	free := t.find(hash, place)
	for i := t.next(free); t[i].used(); i = t.next(i) {
		if t.distance(t.home(t[i].hash), i) >= t.distance(free, i) {
			t[free], free = t[i], i
		}
	}
	t[free] = slot{}
}
