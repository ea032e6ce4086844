package main

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// siteNodes are the nodes that the coordinator of a lock creates before it assigns the run, in that order.
var siteNodes = []string{"the namespace", "the marker", "the run's node", "the lock"}

// TestACoordinatorKilledBeforeItAssignsTheRun kills the coordinator when the service has created one of its nodes, and the
// coordinator does not know that yet.
func TestACoordinatorKilledBeforeItAssignsTheRun(t *testing.T) {
	testenv.SkipIfShort(t)
	for i, node := range siteNodes {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			_, addr := startServe(t, "127.0.0.1:0")
			proxy := startStalling(t, addr, i+1, wire.OpCreate, wire.OpCreate2)
			f := startFleet(t, proxy.addr, 2, "--duration", "1m")
			proxy.awaitStall(t)
			f.kill(t, f.coordinator)
			f.wait(t)
			wantNoRun(t, addr)
		})
	}
}

// faultyFlags make a run have faults of clients.
var faultyFlags = []string{"--duration", "1m", "--fault", "at=100ms cut client=1", "--fault", "at=1s freeze client=2 for=500ms", "--fault", "at=50s expire clients=all"}

// TestACoordinatorKilledInARunWithFaults kills the coordinator, and its control plane with it, so that the agents do not
// know whether it continues.
func TestACoordinatorKilledInARunWithFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Parallel()
	addr, watcher := given(t)
	f := startFleet(t, addr, 2, faultyFlags...)
	awaitHolder(t, watcher)
	f.kill(t, f.coordinator)
	f.wait(t)
	wantNoRun(t, addr)
}

// TestAnAgentStalledWhileItRemovesTheRun has a dead coordinator, and an agent that stalls while it removes the
// run's nodes. The other one removes them all.
func TestAnAgentStalledWhileItRemovesTheRun(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Parallel()
	_, addr := startServe(t, "127.0.0.1:0")
	made := startStalling(t, addr, len(siteNodes), wire.OpCreate, wire.OpCreate2)
	removed := startStalling(t, made.addr, 1, wire.OpDelete)
	f := startFleet(t, removed.addr, 2, "--duration", "1m")
	made.awaitStall(t)
	f.kill(t, f.coordinator)
	removed.awaitStall(t)
	ended := make(chan int, 2)
	for i, a := range f.all[:2] {
		go func() {
			_ = a.Wait()
			ended <- i
		}()
	}
	other := 1 - awaiting.Value(t, "the agent that does not stall has removed the run, and ends", ended)
	wantNoRun(t, addr)
	f.kill(t, f.all[other])
	awaiting.Value(t, "the killed agent ends", ended)
}

// TestACoordinatorAndAllAgentsKilled leaves no process that could remove the run. stampede clean does.
func TestACoordinatorAndAllAgentsKilled(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Parallel()
	addr, watcher := given(t)
	f := startFleet(t, addr, 2, "--duration", "1m")
	awaitHolder(t, watcher)
	base := namespace.Default + "/" + awaitChild(t, t.Context(), watcher, namespace.Default)
	for _, p := range f.all {
		f.kill(t, p)
	}
	f.wait(t)
	awaitGone(t, t.Context(), watcher, base+".alive")
	wantCleaned(t, "native://"+addr, `(?m)^  `+base+`: removed \d+ nodes\n`)
	wantNoRun(t, addr)
}
