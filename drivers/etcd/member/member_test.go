package member

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

func TestMemberRefusesWhatItDoesNotKnow(t *testing.T) {
	err := Run(t.Context(), cluster.Place{Durability: "nofsync"}, func(string) { t.Error("it is ready") })
	if want := `durability "nofsync": want fsync or no-fsync`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
