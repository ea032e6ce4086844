package pattern

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/client"
)

// TestEffectsAreBounded has two patterns change at once when as many shapes as are kept have been seen: the change counts at
// each of the patterns by itself.
func TestEffectsAreBounded(t *testing.T) {
	table := NewTable(10)
	a, b := table.Named("/x/a", nil), table.Named("/x/b", nil)
	woken := client.Set{client.New(10).Open(traffic.Connection{ID: 1, Client: "192.0.2.1:5"}).Begin(true): true}
	for _, full := range []bool{false, true} {
		if full {
			table.shapes = maxShapes
		}
		of, apart := table.Affect([]Share{{a, woken}, {b, woken}})
		if apart != full || (len(of) == 2) != full {
			t.Errorf("full %v: apart %v, %d effects", full, apart, len(of))
		}
	}
	if len(table.effects) != 3 {
		t.Errorf("%d effects are kept, want those of both patterns and of each", len(table.effects))
	}
}
