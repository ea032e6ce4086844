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

func configForms() []recipetest.ConfigForm {
	return []recipetest.ConfigForm{
		{Name: "watch", New: func(c drivers.Conn, path string) workloads.Config {
			return recipes.NewConfig(c, path)
		}},
		{Name: "persistent", New: func(c drivers.Conn, path string) workloads.Config {
			return recipes.NewPersistentConfig(c.(drivers.PersistentWatcher), path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) workloads.Config {
			return naive.NewConfig(c, path)
		}},
	}
}

func TestConfigInProcess(t *testing.T) {
	for _, form := range configForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.ConfigBubbled(t, lastingInProcess, form) })
	}
}

func TestConfigOnNative(t *testing.T) {
	recipetest.Config(t, backendtest.Shared(t, "native:"), configForms()[0])
}

func TestConfigOnZooKeeper(t *testing.T) {
	for _, form := range configForms() {
		t.Run(form.Name, func(t *testing.T) {
			recipetest.Config(t, sharedFor(t, "zookeeper:", "config", form.Name), form)
		})
	}
}

// Of what has real persistent watches.
func TestConfigOnEtcd(t *testing.T) {
	form := configForms()[1]
	recipetest.Config(t, sharedFor(t, "etcd:", "config", form.Name), form)
}

func TestEveryConfigOfTheCatalogueIsTested(t *testing.T) {
	var tested []string
	for _, form := range configForms() {
		tested = append(tested, form.Name)
	}
	if want := catalog.Names(catalog.Forms(), "config"); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
}

// sharedFor is a started backend that a form of the catalogue can run on. The
// test is skipped if the client cannot do what the form needs.
func sharedFor(t *testing.T, url, recipe, form string) drivers.Service {
	t.Helper()
	service := backendtest.Shared(t, url)
	conn, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range catalog.Forms() {
		if f.Recipe == recipe && f.Name == form && !f.Needs.MetBy(conn) {
			t.Skipf("%v needs %s, which %s has not", f, f.Needs, service.Info().Client)
		}
	}
	return service
}
