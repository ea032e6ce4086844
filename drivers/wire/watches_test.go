package wire

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestFiredBy(t *testing.T) {
	changes := []drivers.EventType{drivers.Created, drivers.Deleted, drivers.DataChanged, drivers.ChildrenChanged}
	for kind, want := range map[WatchKind][]drivers.EventType{
		DataWatch:  {drivers.Deleted, drivers.DataChanged},
		ExistWatch: {drivers.Created, drivers.Deleted, drivers.DataChanged},
		ChildWatch: {drivers.Deleted, drivers.ChildrenChanged},
	} {
		var fired []drivers.EventType
		for _, e := range changes {
			if FiredBy(e)&kind != 0 {
				fired = append(fired, e)
			}
		}
		if !slices.Equal(fired, want) {
			t.Errorf("a watch of kind %d is fired by %v, want %v", kind, fired, want)
		}
	}
	for _, e := range []drivers.EventType{0, drivers.Lost, drivers.Rearmed} {
		if kinds := FiredBy(e); kinds != 0 {
			t.Errorf("%v fires kinds %d, but is no change", e, kinds)
		}
	}
}
