package catalog

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/workloads"
)

// All names every recipe or every form, but no load.
const All = "all"

// Recipes are the recipes and loads of the forms, in the table's order.
func Recipes(forms []workloads.Form) []string {
	var names []string
	for _, f := range forms {
		if !slices.Contains(names, f.Recipe) {
			names = append(names, f.Recipe)
		}
	}
	return names
}

// Names are the names of a recipe's forms, in the table's order.
func Names(forms []workloads.Form, recipe string) []string {
	var names []string
	for _, f := range forms {
		if f.Recipe == recipe {
			names = append(names, f.Name)
		}
	}
	return names
}

// A Choice is a form and whether it was asked for by its own name, rather than
// by its family or by "all": only then is it an error that a backend has none.
type Choice struct {
	workloads.Form
	ByName bool
}

// Select chooses forms of the recipes: by name, by family ("recipe", "naive",
// "library"), or "all". Without names it chooses the twins: the first form of
// the families recipe and naive. Of a load it chooses all forms, unless one of them
// is named. No recipes means "lock"; "all" means every one, and no load.
// The choice is in the table's order. The error names the nearest name.
func Select(forms []workloads.Form, recipes, names []string) ([]Choice, error) {
	recipes, err := selectRecipes(forms, recipes)
	if err != nil {
		return nil, err
	}
	if err := checkNames(forms, recipes, names); err != nil {
		return nil, err
	}
	var chosen []Choice
	for _, recipe := range recipes {
		whole := isLoad(forms, recipe) && !slices.ContainsFunc(Names(forms, recipe), func(n string) bool { return slices.Contains(names, n) })
		twins := make(map[workloads.Family]bool)
		for _, f := range forms {
			if f.Recipe != recipe {
				continue
			}
			first := f.Family != workloads.Library && !twins[f.Family]
			twins[f.Family] = true
			if c := (Choice{f, slices.Contains(names, f.Name)}); c.ByName || whole || wanted(f, first, names) {
				chosen = append(chosen, c)
			}
		}
	}
	return chosen, nil
}

func wanted(f workloads.Form, twin bool, names []string) bool {
	if f.Family == workloads.Load {
		return false // all or by name
	}
	if len(names) == 0 {
		return twin
	}
	return slices.Contains(names, All) || slices.Contains(names, string(f.Family))
}

func selectRecipes(forms []workloads.Form, recipes []string) ([]string, error) {
	have := Recipes(forms)
	if len(recipes) == 0 {
		return have[:1], nil
	}
	for _, r := range recipes {
		if r != All && !slices.Contains(have, r) {
			return nil, nearest.Unknown("recipe", r, have)
		}
	}
	all := slices.Contains(recipes, All)
	return slices.DeleteFunc(have, func(r string) bool {
		return !slices.Contains(recipes, r) && (!all || isLoad(forms, r))
	}), nil
}

func isLoad(forms []workloads.Form, recipe string) bool {
	return slices.ContainsFunc(forms, func(f workloads.Form) bool { return f.Recipe == recipe && f.Family == workloads.Load })
}

// checkNames fails on a name that no chosen recipe has.
func checkNames(forms []workloads.Form, recipes, names []string) error {
	have := []string{All}
	for _, f := range workloads.Families() {
		have = append(have, string(f))
	}
	for _, r := range recipes {
		have = append(have, Names(forms, r)...)
	}
	for _, n := range names {
		if !slices.Contains(have, n) {
			return nearest.Unknown("form of "+strings.Join(recipes, ", "), n, have)
		}
	}
	return nil
}
