package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/systems"
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
// form's name, that of a system that uses the form ("kafka-controller"), a family
// ("recipe", "naive", "library") or "all". Without names,
// Select returns the twins: the first form of each of the families recipe and naive.
// For a load it returns all forms, unless names includes one of them.
// Without recipes, Select uses "lock"; "all" means every recipe, but no load.
// The result is in the table's order. For an unknown name, the error suggests
// the nearest known one.
func Select(forms []workloads.Form, recipes, names []string) ([]Choice, error) {
	recipes, err := SelectRecipes(forms, recipes)
	if err != nil {
		return nil, err
	}
	names, err = formsOfSystems(recipes, names)
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

// SelectRecipes returns the recipes with these names in the catalogue's order: the first recipe if there
// is no name, and all but the loads for "all".
func SelectRecipes(forms []workloads.Form, recipes []string) ([]string, error) {
	have := Recipes(forms)
	if len(recipes) == 0 {
		return have[:1], nil
	}
	for _, r := range recipes {
		if recipe, form, is := strings.Cut(r, "/"); is && slices.Contains(have, recipe) {
			return nil, fmt.Errorf("%s: give the recipe alone, and its form as --form %s", r, form)
		}
		if r != All && !slices.Contains(have, r) {
			return nil, suggest.Unknown("recipe", r, have)
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
		have = append(have, systems.Names(r)...)
	}
	for _, n := range names {
		if !slices.Contains(have, n) {
			return suggest.Unknown("form of "+strings.Join(recipes, ", "), n, have)
		}
	}
	return nil
}

// formsOfSystems replaces the names of systems by those of the forms that they use.
func formsOfSystems(recipes, names []string) ([]string, error) {
	names = slices.Clone(names)
	for i, n := range names {
		s, found := systems.Find(n)
		if !found {
			continue
		}
		if !slices.Contains(recipes, s.Recipe) {
			return nil, fmt.Errorf("%s uses a form of %s, which is not among the recipes %s", n, s.Recipe, strings.Join(recipes, ", "))
		}
		names[i] = s.Form
	}
	return names, nil
}
