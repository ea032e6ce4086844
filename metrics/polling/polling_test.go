package polling

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestRepeatsArePolling reads one node again and again, with what lies between the reads.
func TestRepeatsArePolling(t *testing.T) {
	at := time.Unix(100, 0)
	for _, test := range []struct {
		name   string
		second func(r *Reads) Repeat
		want   Repeat
	}{
		{"the same answer", func(r *Reads) Repeat { return r.Add(at.Add(time.Second), "/a", drivers.OpGet, 7, Done{1, 1}) }, Repeat{true, true, time.Second}},
		{"another answer", func(r *Reads) Repeat { return r.Add(at.Add(time.Second), "/a", drivers.OpGet, 8, Done{1, 1}) }, Repeat{true, false, time.Second}},
		{"an answer that is not known", func(r *Reads) Repeat { return r.Add(at, "/a", drivers.OpGet, 0, Done{1, 1}) }, Repeat{Polls: true}},
		{"notified meanwhile", func(r *Reads) Repeat { return r.Add(at, "/a", drivers.OpGet, 7, Done{2, 1}) }, Repeat{}},
		{"wrote meanwhile", func(r *Reads) Repeat { return r.Add(at, "/a", drivers.OpGet, 7, Done{1, 2}) }, Repeat{}},
		{"another node", func(r *Reads) Repeat { return r.Add(at, "/b", drivers.OpGet, 7, Done{1, 1}) }, Repeat{}},
		{"another operation", func(r *Reads) Repeat { return r.Add(at, "/a", drivers.OpExists, 7, Done{1, 1}) }, Repeat{}},
		{"forgotten", func(r *Reads) Repeat {
			for i := range most {
				r.Add(at, fmt.Sprint("/", i), drivers.OpGet, 7, Done{1, 1})
			}
			if len(r.latest) > most {
				t.Errorf("%d reads are remembered, want at most %d", len(r.latest), most)
			}
			return r.Add(at, "/a", drivers.OpGet, 7, Done{1, 1})
		}, Repeat{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r Reads
			if first := r.Add(at, "/a", drivers.OpGet, 7, Done{1, 1}); first != (Repeat{}) {
				t.Errorf("the first read repeats: %+v", first)
			}
			if got := test.second(&r); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
