package faults

import (
	"testing"
	"time"
)

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		fault  string
		length time.Duration
		begun  int
		want   bool
	}{
		{"at=1s cut client=1", time.Minute, 1, false}, {"at=1s cut client=1", time.Minute, 0, true}, {"at=1s cut client=1", time.Second, 0, false},
		{"at=1s cut client=1 every=2s times=3", time.Minute, 2, true}, {"at=1s cut client=1 every=2s times=3", time.Minute, 3, false},
		{"at=1s cut client=1 every=2s times=3", 5 * time.Second, 2, false}, {"at=1s cut client=1 every=2s times=3", 5*time.Second + 1, 2, true},
	} {
		f, err := Parse(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		if _, missing := (Schedule{f}).Missing(c.length, map[int]int{0: c.begun}); missing != c.want {
			t.Errorf("%s in %v, %d times: missing %v", c.fault, c.length, c.begun, missing)
		}
	}
}
