package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/parts"
)

// A testFunction is a test of this module.
type testFunction struct {
	name     string
	raceless bool // it is skipped under the race detector
}

// allTests returns the tests of each package, by its path in the module.
func allTests(t *testing.T) map[string][]testFunction {
	t.Helper()
	all := map[string][]testFunction{}
	err := eachFile(os.DirFS("../.."), true, func(file string, _ *token.FileSet, parsed *ast.File) {
		if strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "testdata/") {
			all[path.Dir(file)] = append(all[path.Dir(file)], testFunctions(parsed)...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// testFunctions returns the tests of a file.
func testFunctions(file *ast.File) (found []testFunction) {
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" {
			continue
		}
		raceless := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, is := n.(*ast.SelectorExpr)
			raceless = raceless || is && call.Sel.Name == "SkipIfRaced"
			return true
		})
		found = append(found, testFunction{f.Name.Name, raceless})
	}
	return found
}

// Each test belongs to one part: no two rows of a package that select tests select the same one. One that is skipped
// under the race detector belongs to a row without it.
func TestEachTestIsRun(t *testing.T) {
	all := allTests(t)
	if len(all) < 80 {
		t.Fatalf("%d packages: fewer than there are", len(all))
	}
	raceless := 0
	for pkg, functions := range all {
		for _, f := range functions {
			row, found := parts.RowOf(pkg, f.name)
			if !found {
				t.Errorf("no part runs %s of %s", f.name, pkg)
			}
			if f.raceless {
				raceless++
				if row.Raced && path.Base(pkg) != "testenv" {
					t.Errorf("%s of %s is skipped under the race detector, and nothing runs it without", f.name, pkg)
				}
			}
			if rows := selecting(pkg, f.name); len(rows) > 1 {
				t.Errorf("%s of %s belongs to several rows: %v", f.name, pkg, rows)
			}
		}
	}
	if raceless < 5 {
		t.Errorf("%d tests are skipped under the race detector: fewer than there are", raceless)
	}
}

// selecting returns the rows that select a test of a package by its name.
func selecting(pkg, test string) (rows []parts.Row) {
	for _, r := range parts.Rows() {
		if r.Packages == pkg && r.Tests != "" && regexp.MustCompile(r.Tests).MatchString(test) {
			rows = append(rows, r)
		}
	}
	return rows
}

// Each row belongs to a part and has a test.
func TestNoRowIsIdle(t *testing.T) {
	used := map[parts.Row]bool{}
	for pkg, functions := range allTests(t) {
		for _, f := range functions {
			row, _ := parts.RowOf(pkg, f.name)
			used[row] = true
		}
	}
	for _, r := range parts.Rows() {
		if !slices.Contains(parts.Names(), r.Part) {
			t.Errorf("%v: no such part", r)
		}
		if !used[r] {
			t.Errorf("%+v has no test", r)
		}
	}
}

// CONTRIBUTING.md has a table of the parts. With -update the test writes it.
func TestContributingListsTheParts(t *testing.T) {
	var table strings.Builder
	fmt.Fprint(&table, "| part | what it checks | tests of |\n|---|---|---|\n")
	for _, p := range parts.All() {
		fmt.Fprintf(&table, "| `make check-%s` | %s | %s |\n", p.Name, p.What, strings.Join(packagesOf(p.Name), ", "))
	}
	wantSection(t, "parts", table.String())
}

// packagesOf returns the patterns of a part's packages, each once; "some" are those of which it has some tests.
func packagesOf(part string) (patterns []string) {
	for _, r := range parts.Rows() {
		text := "`" + r.Packages + "`"
		if r.Tests != "" {
			text = "some of " + text
		}
		if r.Part == part && !slices.Contains(patterns, text) {
			patterns = append(patterns, text)
		}
	}
	return patterns
}
