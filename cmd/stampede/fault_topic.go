package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/faults"
)

const faultsText = `A fault is what is done at a moment of the measured window, to whom, and what is
done to the same afterwards:

  at=TIME VERB WHOM [PARAMETER] [for=TIME]
  at=TIME VERB WHOM [PARAMETER], VERB [PARAMETER] after=TIME, ...

for= undoes it after so long: kill and fill-disk by restart, stop by continue, freeze by
thaw, and by mend what was done to connections. WHOM are MEMBERS or CLIENTS. MEMBERS are
leader, follower, member=2 or members=all, of a service that the run has started
(fill-disk: native with durability=fsync, or etcd, on Linux); CLIENTS are client=3,
clients=25%, clients=all, or holder, who has what the others want. The connections of a
member that delay, throttle and mend speak of are those to other members.

  stampede run --fault 'at=5s kill leader for=5s' --backend 'zookeeper:?servers=3'
  stampede run --fault 'at=5s stop follower, kill after=2s, restart after=3s' ...
  stampede run --fault 'at=5s isolate leader for=5s' --backend 'etcd:?servers=3'
  stampede run --fault 'at=5s delay leader by=20ms for=5s' --backend 'zookeeper:?servers=3'
  stampede run --fault 'at=5s freeze holder for=15s' --duration 30s
  stampede run --nemesis 2s --duration 60s --seed 42

The table tells of each fault how long it took until the first client noticed, until
there was a leader, until all were connected again, until the first grant after the
longest pause and until nine tenths of what was done before were done again; the
longest time that the middle client and any client waited; and what it cost on the
wire until all were back. What cannot be done where it runs is an error before it runs.

Where something is done to what members say to each other, also by --nemesis, they do so
through proxies in this process, which take their part of its time: the heading says
"behind proxies".

Verbs:

`

// faultsTopic returns a help topic, not a command: stampede help faults shows it.
func (a *app) faultsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "faults", Short: "What can be broken while a run goes on"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, faultsText)
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, row := range faults.Verbs() {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", row[0], row[1], row[2])
		}
		w.Flush()
	})
	return topic
}
