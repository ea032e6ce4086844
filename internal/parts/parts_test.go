package parts_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/parts"
)

const root = "../.."

// A function is a test of this module.
type function struct {
	name     string
	raceless bool // it is skipped under the race detector
}

// tests returns the tests of each package, by its path in the module.
func tests(t *testing.T) map[string][]function {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() (map[string][]function, error) {
	all, files := map[string][]function{}, token.NewFileSet()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == "node_modules" || len(e.Name()) > 1 && e.Name()[0] == '.') {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, root+"/"+name, nil, 0)
		if err != nil {
			return err
		}
		all[path.Dir(name)] = append(all[path.Dir(name)], functions(file)...)
		return nil
	})
	return all, err
})

// functions returns the tests of a file.
func functions(file *ast.File) (found []function) {
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
		found = append(found, function{f.Name.Name, raceless})
	}
	return found
}

// Each test belongs to one part: no two rows of a package that select tests select the same one. One that is skipped
// under the race detector belongs to a row without it.
func TestEachTestIsRun(t *testing.T) {
	all := tests(t)
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
	for pkg, functions := range tests(t) {
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

// The calls of all parts together run each package, and cut ones wholly.
func TestCallsRunEachPackage(t *testing.T) {
	packages := []string{"cmd/stampede", "drivers/etcd", "drivers/lean", "results/stats", "workloads/recipetest"}
	var got []string
	for _, p := range parts.All() {
		for _, call := range p.Calls(packages, true) {
			got = append(got, p.Name+": "+strings.Join(call, " "))
		}
	}
	golden.Compare(t, "testdata/calls.txt", []byte(strings.Join(got, "\n")+"\n"))

	race, err := parts.Named([]string{"race"})
	if err != nil {
		t.Fatal(err)
	}
	if calls := fmt.Sprint(race[0].Calls(packages, false)); strings.Contains(calls, "-race") {
		t.Errorf("%s: the race detector is used though there is none", calls)
	}
}

func TestUnknownPart(t *testing.T) {
	_, err := parts.Named([]string{"recipe"})
	if err == nil || !strings.Contains(err.Error(), `"recipe": want one of race, `) {
		t.Errorf("%v", err)
	}
}

// CONTRIBUTING.md has a table of the parts. With -update the test writes it.
func TestContributingListsTheParts(t *testing.T) {
	const file, begin, end = root + "/CONTRIBUTING.md", "<!-- parts: written by make docs -->\n", "<!-- end of parts -->\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("CONTRIBUTING.md has no table of parts")
	}
	var b bytes.Buffer
	fmt.Fprint(&b, before, begin, "| part | what it checks | tests of |\n|---|---|---|\n")
	for _, p := range parts.All() {
		fmt.Fprintf(&b, "| `make check-%s` | %s | %s |\n", p.Name, p.What, strings.Join(packagesOf(p.Name), ", "))
	}
	fmt.Fprint(&b, end, after)
	golden.Compare(t, file, b.Bytes())
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

// A script that make test leaves out names the part that runs it.
func TestScriptsNameTheirPart(t *testing.T) {
	scripts, err := filepath.Glob(root + "/cmd/stampede/testdata/*/*.txtar")
	if err != nil || len(scripts) < 50 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	row, _ := parts.RowOf("cmd/stampede", "TestScripts")
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "[short] ") && !strings.Contains(line, "left to make check-"+row.Part+"'") {
				t.Errorf("%s: %q does not name make check-%s", path.Base(script), line, row.Part)
			}
		}
	}
}

// The workflow that runs the parts knows all of them.
func TestTheWorkflowRunsEachPart(t *testing.T) {
	workflow, err := os.ReadFile(root + "/.github/workflows/check.yml")
	if err != nil {
		t.Fatal(err)
	}
	want := "part: [" + strings.Join(parts.Names(), ", ") + "]"
	if !strings.Contains(string(workflow), want) {
		t.Errorf("check.yml does not have %q", want)
	}
}
