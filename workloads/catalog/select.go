package catalog

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/workloads"
)

// All selects every recipe (loads excluded) or every form.
const All = "all"

// Recipes returns the recipes and loads of the forms, in the table's order.
func Recipes(forms []workloads.Form) []string {
	var names []string
	for _, f := range forms {
		if !slices.Contains(names, f.Recipe) {
			names = append(names, f.Recipe)
		}
	}
	return names
}

// Names returns the names of a recipe's forms, in the table's order.
func Names(forms []workloads.Form, recipe string) []string {
	var names []string
	for _, f := range forms {
		if f.Recipe == recipe {
			names = append(names, f.Name)
		}
	}
	return names
}

// A Choice is a selected form. ByName reports whether the form was selected by its
// own name, rather than by its family or by "all". Only then is it an error if a
// backend does not have the form.
type Choice struct {
	workloads.Form
	ByName bool
}

// Select returns the forms of the recipes that the names select. A name is a
// form's name, a family ("recipe", "naive", "library") or "all". Without names,
// Select returns the twins: the first form of each of the families recipe and naive.
// For a load it returns all forms, unless names includes one of them.
// Without recipes, Select uses "lock"; "all" means every recipe, but no load.
// The result is in the table's order. For an unknown name, the error suggests
// the nearest known one.
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
		return false // loads are selected as a whole or by name
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

// checkNames returns an error for a name that is neither a form of the recipes, a family, nor "all".
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
