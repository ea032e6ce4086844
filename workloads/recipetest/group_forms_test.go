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

func groupForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Name: "ring", Ring: true, New: func(c drivers.Conn, path string) workloads.Group {
			return recipes.NewGroup(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) workloads.Group {
			return recipes.NewRecursiveGroup(c.(drivers.PersistentWatcher), path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) workloads.Group {
			return naive.NewGroup(c, path)
		}},
	}
}

func TestGroupInProcess(t *testing.T) {
	for _, form := range groupForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.GroupBubbled(t, lastingInProcess, form) })
	}
}

func TestGroupOnNative(t *testing.T) {
	recipetest.Group(t, backendtest.Shared(t, "native:"), groupForms()[0])
}

func TestGroupOnZooKeeper(t *testing.T) {
	for _, form := range groupForms() {
		t.Run(form.Name, func(t *testing.T) {
			recipetest.Group(t, sharedFor(t, "zookeeper:", "group", form.Name), form)
		})
	}
}

// Of what has real persistent watches.
func TestGroupOnEtcd(t *testing.T) {
	form := groupForms()[1]
	recipetest.Group(t, sharedFor(t, "etcd:", "group", form.Name), form)
}

func TestEveryGroupOfTheCatalogueIsTested(t *testing.T) {
	var tested []string
	for _, form := range groupForms() {
		tested = append(tested, form.Name)
	}
	if want := catalog.Names(catalog.Forms(), "group"); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
}
