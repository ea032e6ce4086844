package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
)

const (
	recipeFolder = "../../docs/recipes/"
	// generatedBelow separates the hand-written text from the generated text.
	generatedBelow = "<!-- What follows is written by make docs. -->\n"
)

// recipePages checks the page of each recipe. Below its head, a page is generated from the code and
// from counts.
func recipePages(t *testing.T) {
	testenv.SkipIfShort(t)
	settled := countedForms(t)
	for _, recipe := range recipesOf(catalog.Forms()) {
		path := recipeFolder + recipe + ".md"
		head, _, found := strings.Cut(contentOf(t, path), generatedBelow)
		if !found {
			t.Fatalf("%s has no line %s", path, generatedBelow)
		}
		page := recipePage{t: t, recipe: recipe}
		page.WriteString(head + generatedBelow)
		page.costs(settled)
		page.charts(settled)
		page.stories()
		page.forms()
		golden.Compare(t, path, []byte(page.String()))
	}
}

// recipesOf returns the recipes among the forms, without loads.
func recipesOf(forms []workloads.Form) (names []string) {
	for _, f := range forms {
		if f.Family != workloads.Load && !slices.Contains(names, f.Recipe) {
			names = append(names, f.Recipe)
		}
	}
	return names
}

// A recipePage is a page that is being generated.
type recipePage struct {
	strings.Builder
	t      *testing.T
	recipe string
}

func (p *recipePage) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *recipePage) each(do func(f workloads.Form)) {
	for _, f := range catalog.Forms() {
		if f.Recipe == p.recipe {
			do(f)
		}
	}
}

// costs writes the exact counts; those of etcd's library forms are counted on etcd.
func (p *recipePage) costs(settled map[string]results.Settled) {
	p.printf("\n## What each form costs, exactly\n\n%s\n\n", letters)
	p.printf("With N = %d", tabled)
	var values []string
	p.each(func(f workloads.Form) {
		for letter, v := range settled[f.String()].Parameters {
			values = append(values, fmt.Sprintf(", %s = %d", letter, v))
		}
	})
	slices.Sort(values)
	p.printf("%s:\n\n", strings.Join(slices.Compact(values), ""))
	p.printf("| form | family | notifications | reads | writes (failed) | largest fan-out |\n|---|---|---|---|---|---|\n")
	p.each(func(f workloads.Form) {
		row, ok := settled[f.String()]
		if !ok {
			p.t.Errorf("%v was not counted", f)
		}
		failed := ""
		if row.FailedWrites.Counted > 0 {
			failed = " (" + exact(row.FailedWrites) + ")"
		}
		p.printf("| %s | %s | %s | %s | %s | %s |\n", f.Name, f.Family, equation(row.Notifications, ""), equation(row.Reads, ""),
			equation(row.Writes, failed), equation(row.LargestFanout, ""))
	})
	p.upkeep()
	p.printf("\n```console\n")
	for _, args := range countings() {
		if command := args.of(p.recipe); command != "" {
			p.printf("$ %s\n", command)
		}
	}
	p.printf("```\n")
}

// upkeep says what a run does for a round besides.
func (p *recipePage) upkeep() {
	written := false
	p.each(func(f workloads.Form) {
		u, kept := costmodel.UpkeepOf(f.Recipe, f.Name)
		if !kept {
			return
		}
		if !written {
			p.printf("\nA run makes the nodes of each round and removes what is left of them. These counts do not include that. " +
				"The note below the table of a run says how much that was.\n\n| form | makes | lists | deletes |\n|---|---|---|---|\n")
		}
		written = true
		p.printf("| %s | %s | %s | %s |\n", f.Name, u.Creates, u.Lists, u.Deletes)
	})
}

// exact formats a count, or its range if it is not deterministic even in a settled run.
func exact(e results.Exact) string {
	if e.Most != nil {
		return fmt.Sprintf("%d to %d", *e.Expected, *e.Most)
	}
	return fmt.Sprint(e.Counted)
}

func equation(e results.Exact, failed string) string {
	text := exact(e) + failed
	if e.Formula != "" && e.Formula != exact(e) {
		text += " = " + e.Formula
	}
	return text
}

func (p *recipePage) charts(settled map[string]results.Settled) {
	p.printf("\n## How the cost grows\n")
	for _, c := range [][2]string{{"notifications", "Notifications"}, {"operations", "Reads and writes"}} {
		if c[0] == "notifications" && !notifies(p.recipe, settled) {
			continue
		}
		p.printf("\n![%s per round of %s against clients](%s-%s.svg)\n", c[1], p.recipe, p.recipe, c[0])
	}
	first, draws := " A form that wakes no client has no points in the first chart.", "draws both"
	if !notifies(p.recipe, settled) {
		first, draws = " No form wakes a client.", "draws it"
	}
	p.printf("\nThe points are exact counts of settled rounds; the lines are the cost model.%s\n"+
		"`stampede count %s --form all --clients 2,4,8,16,32 -o svg=FOLDER` %s.\n", first, p.recipe, draws)
}

// forms writes what each form does, in the words of its type's doc comment.
func (p *recipePage) forms() {
	p.printf("\n## Its forms\n")
	known := map[workloads.Family]bool{}
	p.each(func(f workloads.Form) {
		p.printf("\n### %s\n\n", f.Name)
		source := sourceOf(f, !known[f.Family])
		known[f.Family] = true
		if source == "" {
			p.printf("%s · %s\n\nThis form is %s.\n", f.Family, origin(f), f.Summary)
			return
		}
		p.printf("%s · [%s](../../%s) · from %s\n\n%s", f.Family, source, source, origin(f), typeDoc(p.t, "../../"+source))
	})
}

// sourceOf returns the file of a form, "" for a form that a library ships. The file of a family's
// first form is named after the recipe alone.
func sourceOf(f workloads.Form, first bool) string {
	folder := map[workloads.Family]string{workloads.Recipe: "recipes", workloads.Naive: "naive"}[f.Family]
	if folder == "" {
		return ""
	}
	name := strings.ReplaceAll(f.Recipe, "-", "")
	if !first {
		name += "_" + strings.ReplaceAll(f.Name, "-", "_")
	}
	return folder + "/" + name + ".go"
}

// docLink matches a name in brackets, which is a link only in Go.
var docLink = regexp.MustCompile(`\[(\w+)\]`)

// typeDoc returns the doc comment in a file that says what a form costs.
func typeDoc(t *testing.T, path string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		if about, cost, found := strings.Cut(docLink.ReplaceAllString(group.Text(), "$1"), "\nCost: "); found {
			return about + "\n\nCost: " + cost
		}
	}
	t.Fatalf("%s has no comment with a line Cost:", path)
	return ""
}
