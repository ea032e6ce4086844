package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func memberStateForms() []recipetest.MemberStateForm {
	return []recipetest.MemberStateForm{
		{Name: "own-node", New: func(c drivers.Conn, path, member string) recipe.MemberState {
			return recipes.NewMemberState(c, path, member)
		}},
		{Name: "one-node", New: func(c drivers.Conn, path, member string) recipe.MemberState {
			return naive.NewMemberState(c, path, member)
		}},
	}
}

func TestMemberStates(t *testing.T) {
	everywhere(t, memberStateForms())
}
