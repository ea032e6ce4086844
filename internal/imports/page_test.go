package imports

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
)

// A box is a pattern in the drawing of the layers, with the number of its layer, from the top. Lines
// without an arrow between them are one layer.
type box struct {
	pattern string
	layer   int
}

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
func boxOf(boxes []box, pkg string) (found box, known bool) {
	for _, b := range boxes {
		if fits(b.pattern, pkg) && len(b.pattern) > len(found.pattern) {
			found, known = b, true
		}
	}
	return found, known
}

// upward returns the imports that the drawing does not allow. It leaves out tests.
func upward(all map[string]*goPackage, boxes []box) (found []string) {
	for name, p := range all {
		from, known := boxOf(boxes, name)
		if !known {
			found = append(found, name+" is not in the drawing")
			continue
		}
		for _, i := range p.imports {
			switch to, _ := boxOf(boxes, i); {
			case to == from || to.layer > from.layer:
			case to.layer == from.layer:
				found = append(found, fmt.Sprintf("%s imports %s, which is beside it in the drawing", name, i))
			default:
				found = append(found, fmt.Sprintf("%s imports %s, which is above it in the drawing", name, i))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestUpwardArrowsAreFound(t *testing.T) {
	boxes, err := drawing("```layers\n[ cmd/... ]\n  │\n[ workloads/... ]  [ recipes ]\n  │\n[ drivers/... ]\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, upward(map[string]*goPackage{
		"cmd/stampede":      {imports: []string{"recipes"}},
		"drivers":           {imports: []string{"recipes"}, testImports: []string{"workloads"}},
		"recipes":           {imports: []string{"workloads/check"}},
		"workloads/check":   {imports: []string{"workloads"}},
		"results":           {imports: []string{"drivers"}},
		"workloads/catalog": {imports: []string{"recipes"}},
	}, boxes), []string{
		"drivers imports recipes, which is above it in the drawing",
		"recipes imports workloads/check, which is beside it in the drawing",
		"results is not in the drawing",
		"workloads/catalog imports recipes, which is beside it in the drawing",
	})
}

// The list of packages in CONTRIBUTING.md has a row for each, with the first sentence of its doc
// comment. With -update the test writes it.
func TestContributingListsThePackages(t *testing.T) {
	all, err := packages(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprint(&table, "| package | contents |\n|---|---|\n")
	for _, name := range sortedNames(all) {
		synopsis := all[name].synopsis
		if synopsis == "" && all[name].lines > 0 {
			t.Errorf("package %s has no doc comment", name)
		}
		if all[name].lines > 0 {
			fmt.Fprintf(&table, "| `%s` | %s |\n", name, contents(name, synopsis))
		}
	}
	wantSection(t, "packages", table.String())
}

// wantSection compares a table with that of CONTRIBUTING.md between two comments with its name.
func wantSection(t *testing.T, name, table string) {
	t.Helper()
	begin, end := "<!-- "+name+": written by make docs -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(readPage(t), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("CONTRIBUTING.md has no list of %s", name)
	}
	golden.Compare(t, "../../CONTRIBUTING.md", []byte(before+begin+table+end+after))
}

// contents returns the first sentence without its subject.
func contents(name, synopsis string) string {
	last := name[strings.LastIndex(name, "/")+1:]
	text := strings.TrimPrefix(synopsis, "Package "+last+" ")
	return strings.ReplaceAll(text, "|", "\\|")
}

func sortedNames(all map[string]*goPackage) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
