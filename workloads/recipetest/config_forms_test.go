package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func configForms() []recipetest.ConfigForm {
	return []recipetest.ConfigForm{
		{Name: "watch", New: func(c drivers.Conn, path string) recipe.Config {
			return recipes.NewConfig(c, path)
		}},
		{Name: "persistent", New: func(c drivers.Conn, path string) recipe.Config {
			return recipes.NewPersistentConfig(capable[drivers.PersistentWatcher](c), path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) recipe.Config {
			return naive.NewConfig(c, path)
		}},
	}
}

func TestConfigs(t *testing.T) {
	everywhere(t, configForms())
}
