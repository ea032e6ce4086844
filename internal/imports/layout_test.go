package imports

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// maxFiles is the number of files besides tests that a package may have.
const maxFiles = 25

// crowded lists the packages that may have more files: those with one file for each command or
// form, which have no limit (0), and those still to be divided, with the number that they had.
var crowded = map[string]int{
	"cmd/stampede": 0, "recipes": 0, "naive": 0,
}

func TestPackagesAreSmall(t *testing.T) {
	found, err := oversized(os.DirFS("../.."), crowded)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range found {
		t.Error(o)
	}
}

func TestPackagesAreSmallCanFail(t *testing.T) {
	tree := fstest.MapFS{}
	fill := func(pkg string, files int) {
		for i := range files {
			tree[fmt.Sprintf("%s/f%d.go", pkg, i)] = &fstest.MapFile{}
			tree[fmt.Sprintf("%s/f%d_test.go", pkg, i)] = &fstest.MapFile{}
		}
	}
	fill("cmd/stampede", 70)
	fill("drivers/wire", maxFiles)
	fill("metrics", maxFiles+1)
	fill("results", 54)
	fill("workloads", maxFiles)
	found, err := oversized(tree, map[string]int{"cmd/stampede": 0, "results": 53, "workloads": 59})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"metrics has 26 files besides tests, want at most 25: divide it",
		"results has 54 files besides tests, want at most 53: divide it",
		"workloads has 25 files besides tests: delete its row in crowded",
	}
	if !slices.Equal(found, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// oversized returns the packages that have too many files, and the rows of crowded that are no
// longer needed.
func oversized(root fs.FS, crowded map[string]int) (found []string, err error) {
	counts := map[string]int{}
	err = eachGoFile(root, func(file string) error {
		if !strings.HasSuffix(file, "_test.go") {
			counts[path.Dir(file)]++
		}
		return nil
	})
	for pkg, files := range counts {
		limit, listed := crowded[pkg]
		switch {
		case listed && limit == 0:
		case listed && files <= maxFiles:
			found = append(found, fmt.Sprintf("%s has %d files besides tests: delete its row in crowded", pkg, files))
		case files > max(limit, maxFiles):
			found = append(found, fmt.Sprintf("%s has %d files besides tests, want at most %d: divide it", pkg, files, max(limit, maxFiles)))
		}
	}
	slices.Sort(found)
	return found, err
}

func TestContributingDrawsTheLayers(t *testing.T) {
	page := readPage(t)
	boxes, err := drawing(page)
	if err != nil {
		t.Fatal(err)
	}
	found, err := upward(os.DirFS("../.."), boxes)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range found {
		t.Error(u)
	}
}

func TestUpwardArrowsAreFound(t *testing.T) {
	boxes, err := drawing("```layers\n[ cmd/... ]\n  │\n[ workloads/... ]  [ recipes ]\n  │\n[ drivers/... ]\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	source := func(imported string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "package p\nimport %q\n", module+imported)}
	}
	found, err := upward(fstest.MapFS{
		"cmd/stampede/main.go":       source("recipes"),
		"drivers/wire/tap.go":        source("drivers"),
		"drivers/conn.go":            source("recipes"),
		"drivers/conn_test.go":       source("workloads"),
		"recipes/lock.go":            source("workloads/check"),
		"workloads/check/lock.go":    source("workloads"),
		"results/file.go":            source("drivers"),
		"workloads/catalog/lists.go": source("recipes"),
	}, boxes)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"drivers imports recipes, which is above it in the drawing",
		"recipes imports workloads/check, which is beside it in the drawing",
		"results is not in the drawing",
		"workloads/catalog imports recipes, which is beside it in the drawing",
	}
	if !slices.Equal(found, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// A box is a pattern of the drawing, with the number of its layer, from the top. Lines without an
// arrow between them are one layer.
type box struct {
	pattern string
	layer   int
}

var boxPattern = regexp.MustCompile(`\[ (\S+) \]`)

// drawing parses the block "layers" of a page.
func drawing(page string) (boxes []box, err error) {
	_, rest, found := strings.Cut(page, "```layers\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		return nil, fmt.Errorf("the page has no block layers")
	}
	layer := 0
	for line := range strings.Lines(block) {
		found := boxPattern.FindAllStringSubmatch(line, -1)
		if len(found) == 0 {
			layer++
		}
		for _, match := range found {
			boxes = append(boxes, box{match[1], layer})
		}
	}
	return boxes, nil
}

// boxOf returns the box of a package: the longest pattern that fits.
func boxOf(boxes []box, pkg string) (of box, found bool) {
	for _, b := range boxes {
		if fits(b.pattern, pkg) && len(b.pattern) > len(of.pattern) {
			of, found = b, true
		}
	}
	return of, found
}

// upward returns the imports that the drawing does not allow. It leaves out tests.
func upward(root fs.FS, boxes []box) (found []string, err error) {
	err = eachGoFile(root, func(file string) error {
		pkg := path.Dir(file)
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		from, known := boxOf(boxes, pkg)
		if !known {
			found = append(found, pkg+" is not in the drawing")
			return nil
		}
		imported, err := importsOf(root, file)
		for _, i := range imported {
			to, _ := boxOf(boxes, i)
			switch {
			case to == from || to.layer > from.layer:
			case to.layer == from.layer:
				found = append(found, fmt.Sprintf("%s imports %s, which is beside it in the drawing", pkg, i))
			default:
				found = append(found, fmt.Sprintf("%s imports %s, which is above it in the drawing", pkg, i))
			}
		}
		return err
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

func TestContributingNamesFoldersThatExist(t *testing.T) {
	named := places(readPage(t))
	if len(named) < 40 {
		t.Fatalf("the table of the layout names %d places: is it still parsed?", len(named))
	}
	for _, place := range named {
		if _, err := os.Stat("../../" + place); err != nil {
			t.Errorf("the table of the layout: %v", err)
		}
	}
}

func TestContributingNamesEachPackage(t *testing.T) {
	found, err := unnamed(os.DirFS("../.."), places(readPage(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range found {
		t.Errorf("package %s has no row in the layout of CONTRIBUTING.md", pkg)
	}
}

func TestUnnamedPackagesAreFound(t *testing.T) {
	tree := fstest.MapFS{"a/a.go": {}, "a/a_test.go": {}, "b/c/c.go": {}}
	if found, err := unnamed(tree, []string{"a", "b"}); err != nil || !slices.Equal(found, []string{"b/c"}) {
		t.Errorf("got %q, %v; want b/c", found, err)
	}
}

// unnamed returns the packages that are not among the places.
func unnamed(root fs.FS, places []string) (found []string, err error) {
	err = eachGoFile(root, func(file string) error {
		if pkg := path.Dir(file); !slices.Contains(places, pkg) && !slices.Contains(found, pkg) {
			found = append(found, pkg)
		}
		return nil
	})
	return found, err
}

var quoted = regexp.MustCompile("`([^`]+)`")

// places returns the files and folders in the right column of the layout's table.
func places(page string) (names []string) {
	_, table, _ := strings.Cut(page, "| you look for | it is in |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for _, match := range quoted.FindAllStringSubmatch(cells[2], -1) {
			names = append(names, match[1])
		}
	}
	return names
}

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
