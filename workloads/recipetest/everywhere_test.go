package recipetest_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// everywhere checks all forms of a recipe in bubbles and on ZooKeeper, and the
// first over the native server's sockets: the others would see the same server.
// The forms are those of the catalogue, and in its order.
func everywhere[F any](t *testing.T, recipe string, forms []F, name func(F) string,
	bubbled func(*testing.T, func(testing.TB) drivers.Service, F), on func(*testing.T, drivers.Service, F)) {
	var tested []string
	for _, form := range forms {
		tested = append(tested, name(form))
		t.Run(name(form)+"/in process", func(t *testing.T) { bubbled(t, inProcess, form) })
	}
	if want := catalog.Names(anywhere(), recipe); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
	t.Run(name(forms[0])+"/native", func(t *testing.T) { on(t, backendtest.Shared(t, "native:"), forms[0]) })
	for _, form := range forms {
		t.Run(name(form)+"/zookeeper", func(t *testing.T) {
			t.Parallel()
			on(t, backendtest.Shared(t, "zookeeper:"), form)
		})
	}
}

// anywhere are the forms of the catalogue that no client library ships.
func anywhere() []workloads.Form {
	return slices.DeleteFunc(catalog.Forms(), func(f workloads.Form) bool { return f.Client != "" })
}
