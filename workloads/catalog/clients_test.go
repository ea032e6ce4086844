package catalog_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// exact reports whether the form's model gives each count exactly.
func exact(f workloads.Form, s workloads.Settings) bool {
	model, ok := costmodel.ModelOf(f.Recipe, f.Name)
	if !ok {
		return false
	}
	least := model.Settled(s.Params(8))
	most := least.Upper()
	return least.Notifications == most.Notifications && least.Reads == most.Reads && least.Writes == most.Writes &&
		least.LargestFanout == most.LargestFanout
}

// TestBothClientsCountTheSame checks that no form costs more through one client for ZooKeeper's
// protocol than through another.
func TestBothClientsCountTheSame(t *testing.T) {
	service, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	other := workloads.Form{Client: "go-zookeeper"}.ServiceFor(service)
	if a, b := service.Info().Client, other.Info().Client; a == b {
		t.Fatalf("both services are used through %s", a)
	}
	settings := workloads.Settings{Polls: 2, Queue: workloads.QueueSettings{Items: 4}}
	compared := 0
	for _, f := range served(t, other) {
		if f.Client != "" || !exact(f, settings) {
			continue
		}
		compared++
		t.Run(f.String(), func(t *testing.T) {
			lean, err := settled.Run(t.Context(), service, f, 8, settings)
			if err != nil {
				t.Fatal(err)
			}
			library, err := settled.Run(t.Context(), other, f, 8, settings)
			if err != nil {
				t.Fatal(err)
			}
			a, b := lean.Counts, library.Counts
			a.Pings, a.Flushes, a.BytesIn = 0, 0, 0 // a list through go-zookeeper has a stat of 68 bytes
			b.Pings, b.Flushes, b.BytesIn = 0, 0, 0
			if a != b || lean.Largest != library.Largest {
				t.Errorf("counted %+v, largest %d, through lean and %+v, largest %d, through go-zookeeper", a, lean.Largest, b, library.Largest)
			}
		})
	}
	if compared < 20 {
		t.Errorf("%d forms were compared, want more", compared)
	}
}
