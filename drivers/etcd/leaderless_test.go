package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A member without a leader loses its sessions to another member. They keep their watches, and
// new sessions are opened there.
func TestLeaderlessMemberIsLeft(t *testing.T) {
	testenv.SkipIfShort(t)
	e, err := cluster.Start(t.Context(), Kind(), cluster.Plan{Servers: 3, Durability: NoFsync, Divisible: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	alone := e.Members()[1]
	s := service(t, Config{Endpoints: e.Addresses()}) // its first session takes the second endpoint
	states := make(chan drivers.State, 10)
	c := dial(t, s, drivers.Options{OnState: func(s drivers.State) { states <- s }})
	if err := alone.Isolate(drivers.Both); err != nil {
		t.Fatal(err)
	}
	if got := <-states; got != drivers.Disconnected {
		t.Fatalf("the session is %v, want it disconnected", got)
	}
	for got := range states {
		if got == drivers.Connected {
			break
		}
	}
	told := make(chan drivers.Event, 1)
	if _, _, err := drivers.Steady(c).Exists(t.Context(), "/elsewhere", func(e drivers.Event) { told <- e }); err != nil {
		t.Fatal(err)
	}
	next := service(t, Config{Endpoints: e.Addresses()})
	create(t, dial(t, next, drivers.Options{}), "/elsewhere", 0)
	<-told
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := service(t, Config{Endpoints: e.Addresses()[1:2]}).Dial(short, drivers.Options{}); err == nil {
		t.Error("a session was opened at the member itself")
	}
	if _, err := Leads(context.WithoutCancel(t.Context()), alone.Address()); err == nil {
		t.Error("the member has a leader")
	}
}
