package recipetest_test

import (
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

// TestMain raises the number of parallel tests: a case on a real service mostly waits for sessions to
// expire, and many cases can wait at the same time on few processors.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8")
	backendtest.Main(m)
}

// everywhere checks all forms of a recipe, which must be those of the catalogue in its order.
// It runs them in bubbles, on ZooKeeper and on etcd. The first two, mostly the recipe and a naive form, also run
// on an ensemble of native servers, and the first over the sockets of one native server, because the others would
// see the same server. A form that a backend's client cannot run is skipped there. A short test run has the bubbles
// only: on a socket a case with a session of a second depends on the machine.
func everywhere[F recipetest.Form](t *testing.T, forms []F) {
	recipe := path.Dir(forms[0].String())
	var tested []string
	for _, form := range forms {
		tested = append(tested, path.Base(form.String()))
	}
	if want := catalog.Names(catalog.Forms(), recipe); !slices.Equal(tested, want) {
		t.Fatalf("tested are %v, the catalogue has %v", tested, want)
	}
	for i, form := range forms {
		open := inProcess
		if row := listed(form.String()); row.Needs == workloads.PersistentWatches {
			open = lastingInProcess
		} else if row.Client != "" {
			open = through(row)
			if !servedInProcess(t, row) {
				continue
			}
		}
		t.Run(tested[i]+"/in process", func(t *testing.T) { recipetest.RunInBubbles(t, open, form) })
	}
	t.Run(tested[0]+"/native", func(t *testing.T) {
		testenv.SkipIfShort(t)
		recipetest.Run(t, backendtest.Shared(t, "native:"), forms[0])
	})
	for _, backend := range []string{"zookeeper:", "etcd:", threeNative} {
		on := forms
		if backend == threeNative {
			on = forms[:min(len(forms), 2)]
		}
		for i, form := range on {
			t.Run(tested[i]+"/"+strings.TrimSuffix(backend, ":"), func(t *testing.T) {
				testenv.SkipIfShort(t)
				row := listed(form.String())
				service := backendtest.Shared(t, urlFor(t, backend, row))
				if service = row.ServiceFor(service); service == nil {
					return
				}
				if !form.Alone() {
					t.Parallel()
				}
				recipetest.Run(t, service, form)
			})
		}
	}
}

// listed returns a row of the catalogue by its full name.
func listed(name string) workloads.Form {
	forms := catalog.Forms()
	return forms[slices.IndexFunc(forms, func(f workloads.Form) bool { return f.String() == name })]
}

// threeNative is the URL of an ensemble. Its client supports what any form needs.
const threeNative = "native:?servers=3"

// urlFor returns the URL of a started backend, with a client that supports what the form needs.
func urlFor(t *testing.T, url string, f workloads.Form) string {
	t.Helper()
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	if f.Needs == workloads.PersistentWatches && url != threeNative {
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

// through returns a function that opens a service in this process through the form's client.
func through(f workloads.Form) func(testing.TB) drivers.Service {
	return func(t testing.TB) drivers.Service { return f.ServiceFor(backendtest.InProcess(t)) }
}

func servedInProcess(t testing.TB, f workloads.Form) bool {
	service := inProcess(t)
	defer service.Close()
	return f.ServiceFor(service) != nil
}

// shipped returns the form that the session's client library ships.
func shipped[F any](c drivers.Conn, recipe, path string, clients int) F {
	return capable[drivers.Librarian](c).LibraryForm(recipe, path, clients).(F)
}

// of returns the constructor of a form, which satisfies the recipe's interface, as one of that interface.
func of[I, F any](open func(drivers.Conn, string) F) func(drivers.Conn, string) I {
	return func(c drivers.Conn, path string) I { return any(open(c, path)).(I) }
}

// watching does that for a form that needs persistent watches.
func watching[I, F any](open func(drivers.PersistentWatcher, string) F) func(drivers.Conn, string) I {
	return func(c drivers.Conn, path string) I { return any(open(capable[drivers.PersistentWatcher](c), path)).(I) }
}

// capable returns a Conn as one that can do more. Its panic names what it cannot.
func capable[S drivers.Conn](c drivers.Conn) S {
	session, ok := drivers.Capability[S](c)
	if !ok {
		panic(fmt.Sprintf("%T is not %T", c, &session))
	}
	return session
}

// noRetry is the reason why a library's form cannot pass some cases.
const noRetry = "the library gives up at a lost reply"
