package spec

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/workloads/catalog"
)

// Without --duration a run lasts until four seconds after the last step of its faults.
func TestFaultsLengthenARun(t *testing.T) {
	for _, c := range []struct {
		args []string
		want time.Duration
	}{
		{nil, 1800 * time.Millisecond},
		{[]string{"--fault", "at=500ms cut clients=all"}, 5 * time.Second},
		{[]string{"--fault", "at=3s cut clients=all", "--fault", "at=1s freeze client=1 for=5s"}, 10 * time.Second},
		{[]string{"--fault", "at=1s cut clients=all", "--duration", "2s"}, 2 * time.Second},
	} {
		f, flags := Defaults(catalog.Forms())
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		j, err := NewJob(catalog.Forms(), []string{"lock"}, *f)
		if err != nil {
			t.Fatal(err)
		}
		if j.Flags.Run.Duration != c.want {
			t.Errorf("%q: %v, want %v", c.args, j.Flags.Run.Duration, c.want)
		}
	}
}
