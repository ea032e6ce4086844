package tree

import "hash/maphash"

// A table is a hash index: it finds the place of a name in a list. Names are stored in the list
// only, so the table takes a fraction of a map's memory and has no pointers for the garbage
// collector to scan.
//
// Its length is a power of two. An entry takes the first free slot from its home slot, which its
// hash determines, so there is never a free slot between an entry's home and the entry.
type table []slot

// The zero slot is free.
type slot struct {
	hash  uint32
	count int32 // the place plus one
}

// seed prevents an attacker from choosing names with equal hashes. No visible order depends on it.
var seed = maphash.MakeSeed()

func hashOf(name string) uint32 { return uint32(maphash.String(seed, name)) }

func slotOf(hash uint32, place int32) slot { return slot{hash, place + 1} }

func (s slot) used() bool { return s.count != 0 }

func (s slot) place() int32 { return s.count - 1 }

func (t table) home(hash uint32) int { return int(hash) & (len(t) - 1) }

func (t table) next(i int) int { return (i + 1) & (len(t) - 1) }

// distance returns the number of steps from one slot to another.
func (t table) distance(from, to int) int { return (to - from) & (len(t) - 1) }

// full reports whether a table of count entries is too full for short searches.
func (t table) full(count int) bool { return count > len(t)/4*3 }

// grown returns a table of twice the size with the same entries.
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

// find returns the slot of the place, which must be in the table.
func (t table) find(hash uint32, place int32) int {
	i := t.home(hash)
	for t[i] != slotOf(hash, place) {
		i = t.next(i)
	}
	return i
}

// remove frees the slot of the place, and moves later entries forward so that no free slot lies
// between an entry and its home.
func (t table) remove(hash uint32, place int32) {
	free := t.find(hash, place)
	for i := t.next(free); t[i].used(); i = t.next(i) {
		if t.distance(t.home(t[i].hash), i) >= t.distance(free, i) {
			t[free], free = t[i], i
		}
	}
	t[free] = slot{}
}
