package recipetest_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func namesForms() []recipetest.NamesForm {
	return []recipetest.NamesForm{
		{Name: "cached", New: func(c drivers.Conn, path string) workloads.Names {
			return recipes.NewNames(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) workloads.Names {
			return recipes.NewRecursiveNames(c.(drivers.PersistentWatcher), path)
		}},
		{Name: "lookup", New: func(c drivers.Conn, path string) workloads.Names {
			return naive.NewNames(c, path)
		}},
	}
}

func TestNamesInProcess(t *testing.T) {
	for _, form := range namesForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.NamesBubbled(t, lastingInProcess, form) })
	}
}

func TestNamesOnNative(t *testing.T) {
	recipetest.Names(t, backendtest.Shared(t, "native:"), namesForms()[0])
}

func TestNamesOnZooKeeper(t *testing.T) {
	for _, form := range namesForms() {
		t.Run(form.Name, func(t *testing.T) {
			recipetest.Names(t, sharedFor(t, "zookeeper:", "names", form.Name), form)
		})
	}
}

// Of what has real persistent watches.
func TestNamesOnEtcd(t *testing.T) {
	form := namesForms()[1]
	recipetest.Names(t, sharedFor(t, "etcd:", "names", form.Name), form)
}

func TestAllNamesOfTheCatalogueAreTested(t *testing.T) {
	var tested []string
	for _, form := range namesForms() {
		tested = append(tested, form.Name)
	}
	if want := catalog.Names(catalog.Forms(), "names"); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
}
