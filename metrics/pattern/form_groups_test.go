package pattern

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/client"
)

// TestMembersWatchUntilTheyLeave has nine sessions at a line of etcd that they list and watch. A few notifications came when
// it was taken that a session is the first, and all were heeded. That makes it a group, unless its members had watched no more
// since their last list, and were behind others when they left: then each had its turn.
func TestMembersWatchUntilTheyLeave(t *testing.T) {
	const members = 9
	for want, left := range map[string]Left{
		"group, children watch":     {First: 11, Waiting: 25},
		"semaphore, children watch": {First: 11, Behind: 25, Free: 36},
	} {
		table, clients := NewTable(10), client.New(10)
		root := table.Named("/", nil)
		dir := table.Named("/line", root)
		node := table.Named("/line/n-#", dir)
		for range members {
			s := clients.Open(traffic.Connection{Client: "192.0.2.1:5"}).Begin(true)
			dir.Op(drivers.OpChildren).By.Add(s)
			node.Op(drivers.OpCreate).By.Add(s)
		}
		dir.Ops[drivers.OpChildren].Requests = 109
		dir.Ops[drivers.OpChildren].Watched = 109
		node.Ops[drivers.OpCreate].Requests = 36
		node.Modes[drivers.Ephemeral|drivers.Sequential] = 36
		node.Events[drivers.Deleted] = 115
		node.Woken[Turned][Acted] = 7
		node.Woken[Waiting] = [outcomes]int64{Acted: 33, Waited: 76}
		node.Left = left
		places := table.Places()
		if len(places) == 0 || places[0].Form == nil || places[0].Form.Name != want {
			t.Errorf("%+v: got %+v, want %q", left, places, want)
		}
	}
}
