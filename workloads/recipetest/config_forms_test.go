package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func configForms() []recipetest.ConfigForm {
	return []recipetest.ConfigForm{
		{Name: "watch", New: of[recipe.Config](recipes.NewConfig)},
		{Name: "persistent", New: watching[recipe.Config](recipes.NewPersistentConfig)},
		{Name: "poll", New: of[recipe.Config](naive.NewConfig)},
	}
}

func TestConfigs(t *testing.T) {
	everywhere(t, configForms())
}
