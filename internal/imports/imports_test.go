package imports

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/stampede-bench/stampede/"

// never lists what a package must not reach, directly or through other packages. A pattern "name/..."
// covers a package and the packages below it.
var never = []rule{
	{"recipes", "naive workloads/... metrics/... results/... dashboards/... cmd/..."},
	{"naive", "recipes workloads/... metrics/... results/... dashboards/... cmd/..."},
	{"drivers/...", "recipes naive workloads/... metrics/... results/... dashboards/... cmd/..."},
	{"metrics", "recipes naive workloads/... results/... dashboards/... cmd/..."},
	{"metrics/fanout", "recipes naive workloads/... results/... dashboards/... cmd/..."},
	{"results/...", "recipes naive workloads/... dashboards/... cmd/..."},
	{"workloads", "recipes naive results/... dashboards/... cmd/..."},
	{"workloads/agents/...", "naive results/... dashboards/... cmd/..."},
}

// neverInTests lists what the tests of a package must not import: the twins are tested apart.
var neverInTests = []rule{{"recipes", "naive"}, {"naive", "recipes"}}

// only lists the packages that may import a package: the catalog alone knows all forms.
var only = []rule{{"naive", "workloads/catalog"}}

// A rule has a pattern of packages, and patterns that it forbids or allows them.
type rule struct{ pkg, others string }

func (r rule) names(pkg string) bool {
	return slices.ContainsFunc(strings.Fields(r.others), func(p string) bool { return fits(p, pkg) })
}

// fits reports whether a pattern covers a package.
func fits(pattern, pkg string) bool {
	above, found := strings.CutSuffix(pattern, "...")
	return pattern == pkg || found && strings.HasPrefix(pkg+"/", above)
}

// A goPackage is a package of this module.
type goPackage struct {
	imports, testImports []string // of this module
	// The package, or a test of it, imports etcd's server.
	etcdServer, testsEtcdServer bool
	lines                       int    // without tests
	synopsis                    string // the first sentence of the doc comment
}

// packages reads all packages of a module, by their paths in it.
func packages(root fs.FS) (map[string]*goPackage, error) {
	all := map[string]*goPackage{}
	return all, fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && file != "." && (name == "testdata" || name == "node_modules" || strings.ContainsAny(name[:1], "._")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go":
			return nil
		}
		source, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := path.Dir(file)
		if all[pkg] == nil {
			all[pkg] = &goPackage{}
		}
		all[pkg].add(file, source, parsed)
		return nil
	})
}

func (p *goPackage) add(file string, source []byte, parsed *ast.File) {
	isTest := strings.HasSuffix(file, "_test.go")
	if !isTest {
		p.lines += strings.Count(string(source), "\n")
		if parsed.Doc != nil {
			p.synopsis = new(doc.Package).Synopsis(parsed.Doc.Text())
		}
	}
	for _, spec := range parsed.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		switch imported, ours := strings.CutPrefix(name, module); {
		case ours && isTest:
			p.testImports = append(p.testImports, imported)
		case ours:
			p.imports = append(p.imports, imported)
		case strings.HasPrefix(name, etcdServer) && isTest:
			p.testsEtcdServer = true
		case strings.HasPrefix(name, etcdServer):
			p.etcdServer = true
		}
	}
}

// violations returns what breaks the rules.
func violations(all map[string]*goPackage) (found []string) {
	for name, p := range all {
		reached := reach(all, name)
		for _, r := range never {
			for _, other := range reached {
				if fits(r.pkg, name) && r.names(other) {
					found = append(found, fmt.Sprintf("%s must not reach %s", name, other))
				}
			}
		}
		for _, r := range neverInTests {
			for _, other := range p.testImports {
				if fits(r.pkg, name) && r.names(other) {
					found = append(found, fmt.Sprintf("tests of %s must not import %s", name, other))
				}
			}
		}
		for _, r := range only {
			if slices.Contains(p.imports, r.pkg) && !r.names(name) {
				found = append(found, fmt.Sprintf("%s must not import %s: only %s may", name, r.pkg, r.others))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// reach lists the packages that a package imports, directly or through others.
func reach(all map[string]*goPackage, name string) []string {
	reached := []string{name}
	for i := 0; i < len(reached); i++ {
		if all[reached[i]] == nil {
			continue
		}
		for _, next := range all[reached[i]].imports {
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	return reached[1:]
}

// mostLines is the number of lines without tests that a package may have. A package has one noun, and
// more lines are about more.
const mostLines = 4000

// unlimited are the packages without a limit: the commands, and suites of tests.
var unlimited = []string{"cmd/stampede", "workloads/recipetest", "drivers/drivertest"}

// oversized returns the packages that have too many lines.
func oversized(all map[string]*goPackage) (found []string) {
	for name, p := range all {
		if p.lines > mostLines && !slices.Contains(unlimited, name) {
			found = append(found, fmt.Sprintf("%s has %d lines without tests, want at most %d: divide it", name, p.lines, mostLines))
		}
	}
	slices.Sort(found)
	return found
}

func TestPackagesObeyTheRules(t *testing.T) {
	all, err := packages(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	boxes, err := drawing(readPage(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range slices.Concat(violations(all), oversized(all), upward(all, boxes)) {
		t.Error(v)
	}
}

func TestRulesCanFail(t *testing.T) {
	source := func(lines int, imported ...string) *fstest.MapFile {
		text := "package p\n"
		for _, name := range imported {
			text += fmt.Sprintf("import %q\n", module+name)
		}
		return &fstest.MapFile{Data: []byte(text + strings.Repeat("\n", lines))}
	}
	all, err := packages(fstest.MapFS{
		"drivers/conn.go":                source(0, "drivers/between"),
		"drivers/between/between.go":     source(0, "metrics"),
		"metrics/metrics.go":             source(mostLines),
		"naive/lock.go":                  source(0, "drivers", "recipes"),
		"recipes/lock_test.go":           source(0, "recipes", "naive"),
		"workloads/workloads.go":         source(0, "naive"),
		"workloads/catalog/catalog.go":   source(0, "naive"),
		"cmd/stampede/main.go":           source(2*mostLines, "workloads/catalog"),
		"drivers/wire/testdata/x/not.go": source(0, "cmd/stampede"),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, violations(all), []string{
		"drivers must not reach metrics",
		"drivers/between must not reach metrics",
		"naive must not reach metrics",
		"naive must not reach recipes",
		"tests of recipes must not import naive",
		"workloads must not import naive: only workloads/catalog may",
		"workloads must not reach naive",
		"workloads must not reach recipes",
	})
	wantEqual(t, oversized(all), []string{"metrics has 4001 lines without tests, want at most 4000: divide it"})
}

func wantEqual(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

var boxPattern = regexp.MustCompile(`\[ (\S+) \]`)
