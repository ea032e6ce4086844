package imports

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/stampede-bench/stampede/"

func TestDirection(t *testing.T) {
	found, err := violations(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

func TestDirectionCanFail(t *testing.T) {
	source := func(imported ...string) *fstest.MapFile {
		text := "package p\n"
		for _, name := range imported {
			text += fmt.Sprintf("import %q\n", name)
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	found, err := violations(fstest.MapFS{
		"drivers/conn.go":                source("context", module+"metrics"),
		"drivers/wire/tap.go":            source(module + "drivers"),
		"drivers/wire/tap_test.go":       source(module+"drivers/wire", module+"drivers/drivertest"),
		"naive/lock.go":                  source(module+"drivers", module+"recipes"),
		"recipes/lock_test.go":           source(module+"recipes", module+"naive"),
		"cmd/stampede/main.go":           source(module+"naive", module+"workloads/catalog"),
		"drivers/misc/misc.go":           source(),
		"drivers/wire/testdata/x/not.go": source(module + "cmd/stampede"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"drivers/conn.go: drivers must not import metrics",
		"drivers/misc/misc.go: package drivers/misc has no row in the rules",
		"naive/lock.go: naive must not import recipes",
		"recipes/lock_test.go: recipes must not import naive",
	}
	if !slices.Equal(found, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

func TestRulesAllowNothingThatMustNeverBe(t *testing.T) {
	for _, v := range breaches(parse(rules)) {
		t.Error(v)
	}
}

func TestNeversCanFail(t *testing.T) {
	got := breaches(parse(`
		drivers:  internal/metered
		internal/metered:  metrics
		metrics:
	`))
	if want := []string{"the rules let drivers reach metrics"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A row holds a package or a pattern, and what it may import.
type row struct {
	pkg     string
	imports []string
}

func parse(text string) []row {
	var rows []row
	for line := range strings.Lines(text) {
		if pkg, imports, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			rows = append(rows, row{pkg, strings.Fields(imports)})
		}
	}
	return rows
}

// fits reports whether a pattern covers a package.
func fits(pattern, pkg string) bool {
	above, found := strings.CutSuffix(pattern, "...")
	return pattern == pkg || found && strings.HasPrefix(pkg+"/", above)
}

// allowed returns the patterns of the first row that fits the package.
func allowed(rows []row, pkg string) (patterns []string, found bool) {
	for _, r := range rows {
		if fits(r.pkg, pkg) {
			return r.imports, true
		}
	}
	return nil, false
}

// violations checks every Go file of a module against the rules.
func violations(root fs.FS) (found []string, err error) {
	err = eachGoFile(root, func(file string) error {
		imported, err := importsOf(root, file)
		found = append(found, judge(file, imported)...)
		return err
	})
	return found, err
}

// eachGoFile calls do for every Go file of a module.
func eachGoFile(root fs.FS, do func(file string) error) error {
	return fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && file != "." && (name == "testdata" || strings.ContainsAny(name[:1], "._")) {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(file) != ".go" {
			return nil
		}
		return do(file)
	})
}

// importsOf lists the packages of this module that a file imports.
func importsOf(root fs.FS, file string) ([]string, error) {
	source, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var ours []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if pkg, is := strings.CutPrefix(name, module); is {
			ours = append(ours, pkg)
		}
	}
	return ours, nil
}

// judge checks the imports of a file against the rules.
func judge(file string, imported []string) (found []string) {
	pkg := path.Dir(file)
	patterns, known := allowed(parse(rules), pkg)
	if !known {
		return []string{fmt.Sprintf("%s: package %s has no row in the rules", file, pkg)}
	}
	if strings.HasSuffix(file, "_test.go") {
		more, _ := allowed(parse(testRules), pkg)
		patterns = slices.Concat(patterns, more, []string{pkg})
	}
	for _, i := range imported {
		if !slices.ContainsFunc(patterns, func(p string) bool { return fits(p, i) }) {
			found = append(found, fmt.Sprintf("%s: %s must not import %s", file, pkg, i))
		}
	}
	return found
}

// breaches checks the rules against the nevers.
func breaches(rows []row) (found []string) {
	for _, never := range parse(nevers) {
		for _, r := range rows {
			if !fits(never.pkg, r.pkg) {
				continue
			}
			for _, reached := range reach(rows, r.pkg) {
				if slices.ContainsFunc(never.imports, func(p string) bool { return fits(p, reached) }) {
					found = append(found, fmt.Sprintf("the rules let %s reach %s", r.pkg, reached))
				}
			}
		}
	}
	return found
}

// reach lists the packages and patterns that the rules let a package import,
// directly or through others.
func reach(rows []row, pkg string) []string {
	reached := []string{pkg}
	for i := 0; i < len(reached); i++ {
		for _, r := range rows {
			if !fits(reached[i], r.pkg) && !fits(r.pkg, reached[i]) {
				continue
			}
			for _, next := range r.imports {
				if !slices.Contains(reached, next) {
					reached = append(reached, next)
				}
			}
		}
	}
	return reached[1:]
}
