package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/results/render"
)

const faultsText = `A fault names a time within the measured window, an action, its target, and
further actions on the same target:

  at=TIME VERB TARGET [PARAMETER] [for=TIME]
  at=TIME VERB TARGET [PARAMETER], VERB [PARAMETER] after=TIME, ...

for= undoes the action after that time: kill and fill-disk by restart, stop by continue,
freeze by thaw, faults of connections by restore. TARGET is MEMBERS or CLIENTS. MEMBERS are
leader, follower, member=2 or members=all, of a service that the run has started
(fill-disk: native with durability=fsync, or etcd, on Linux); CLIENTS are client=3,
clients=25%, clients=all, or holder, the client that holds the lock. For a
member, delay, throttle and restore apply to its connections to other members.

  stampede run --fault 'at=5s kill leader for=5s' --backend 'native:?servers=3'
  stampede run --fault 'at=5s stop follower, kill after=2s, restart after=3s' ...
  stampede run --fault 'at=5s isolate leader for=5s' --backend 'etcd:?servers=3'
  stampede run --fault 'at=5s delay leader by=20ms for=5s' --backend 'zookeeper:?servers=3'
  stampede run --fault 'at=5s freeze holder for=15s' --duration 30s
  stampede run --nemesis 2s --duration 60s --seed 42

For each fault the table shows the time until the first client noticed, until there was
a leader, until all clients were connected again, until the first grant after the
longest pause, and until throughput was back at 90 %; the longest wait of the median
client and of any client; and the cost on the wire until all were back. A fault that
the service does not support is an error before the run.

If a fault or --nemesis affects the connections between members, these go through
proxies in this process, which use some of its CPU time: the heading says "behind
proxies".

Verbs:

`

// faultsTopic returns a help topic, not a command: stampede help faults shows it.
func (a *app) faultsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "faults", Short: "Faults that a run can inject"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, faultsText)
		var rows [][]string
		for _, row := range faults.Verbs() {
			rows = append(rows, row[:])
		}
		_ = render.WriteColumns(a.out, "  ", rows) // help has no errors
	})
	return topic
}
