package recipetest_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// TestMain raises the number of parallel tests: a case on a real service mostly waits for sessions to
// expire, and many cases can wait at the same time on few processors.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8")
	backendtest.Main(m)
}

// everywhere checks all forms of a recipe, which must be those of the catalogue in its order.
// It runs them in bubbles, on ZooKeeper and on etcd. Only the first form also runs over the native
// server's sockets, because the others would see the same server. A form that a backend's client
// cannot run is skipped there. A short test run has only the first form on ZooKeeper and etcd.
func everywhere[F any](t *testing.T, recipe string, forms []F, name func(F) string,
	bubbled func(*testing.T, func(testing.TB) drivers.Service, F), on func(*testing.T, drivers.Service, F)) {
	var tested []string
	for _, form := range forms {
		tested = append(tested, name(form))
	}
	if want := catalog.Names(catalog.Forms(), recipe); !slices.Equal(tested, want) {
		t.Fatalf("tested are %v, the catalogue has %v", tested, want)
	}
	for _, form := range forms {
		open := inProcess
		if row := listed(recipe, name(form)); row.Needs == workloads.PersistentWatches {
			open = lastingInProcess
		} else if !row.ServedBy(clientInProcess(t)) {
			continue
		}
		t.Run(name(form)+"/in process", func(t *testing.T) { bubbled(t, open, form) })
	}
	t.Run(name(forms[0])+"/native", func(t *testing.T) { on(t, backendtest.Shared(t, "native:"), forms[0]) })
	for _, backend := range []string{"zookeeper", "etcd"} {
		for i, form := range forms {
			t.Run(name(form)+"/"+backend, func(t *testing.T) {
				if i > 0 {
					testenv.SkipIfShort(t)
				}
				row := listed(recipe, name(form))
				service := backendtest.Shared(t, urlFor(t, backend, row))
				if !row.ServedBy(service.Info()) {
					return
				}
				if l, shipped := any(form).(loner); !shipped || !l.Alone() {
					t.Parallel()
				}
				on(t, service, form)
			})
		}
	}
}

// A loner is a form that may have to be checked alone.
type loner interface{ Alone() bool }

// listed returns a row of the catalogue.
func listed(recipe, name string) workloads.Form {
	forms := catalog.Forms()
	return forms[slices.IndexFunc(forms, func(f workloads.Form) bool { return f.Recipe == recipe && f.Name == name })]
}

// urlFor returns the URL of a started backend, with a client that supports what the form needs.
func urlFor(t *testing.T, scheme string, f workloads.Form) string {
	t.Helper()
	target, err := backends.Parse(scheme + ":")
	if err != nil {
		t.Fatal(err)
	}
	if f.Needs == workloads.PersistentWatches {
		return target.Backend().Persistent()
	}
	return target.String()
}

func inProcess(t testing.TB) drivers.Service {
	service, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func clientInProcess(t testing.TB) drivers.Info {
	service := inProcess(t)
	defer service.Close()
	return service.Info()
}

// shipped returns the form that the session's client library ships.
func shipped[F any](c drivers.Conn, recipe, path string, clients int) F {
	return c.(drivers.Librarian).LibraryForm(recipe, path, clients).(F)
}

// noRetry is the reason why a library's form cannot pass some cases.
const noRetry = "the library gives up at a lost reply"
