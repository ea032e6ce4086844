package pattern

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/client"
)

// TestMembersLeaveInNoOrder has two sessions end their nodes and create them again, as often in either half of an order as the other or
// in one of them. They may take turns unless both orders are mixed.
func TestMembersLeaveInNoOrder(t *testing.T) {
	clients, both := client.New(10), client.Set{}
	for id, at := range []string{"192.0.2.1:5", "192.0.2.2:5"} {
		both[clients.Open(traffic.Connection{ID: uint64(id + 1), Client: at}).Begin(true)] = true
	}
	mixed, first, last := Ends{10, 10}, Ends{20, 0}, Ends{0, 20}
	for _, c := range []struct {
		age, name Ends
		turns     bool
	}{
		{mixed, mixed, false}, {mixed, first, true}, {mixed, last, true}, {first, mixed, true}, {last, mixed, true}, {Ends{}, Ends{}, true},
	} {
		p := &Pattern{LeftByAge: c.age, LeftByName: c.name}
		for _, op := range []drivers.Op{drivers.OpCreate, drivers.OpDelete} {
			p.Op(op).Requests, p.Op(op).By = 20, both
		}
		if n := comeAgain([]*Pattern{p}, both); n > 0 != c.turns {
			t.Errorf("by age %v, by name %v: %d sessions come again; want that they may take turns: %v", c.age, c.name, n, c.turns)
		}
	}
}
