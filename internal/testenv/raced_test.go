package testenv

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A test that is skipped under the race detector runs nowhere unless the Makefile runs it without.
func TestCheckRunsWhatTheRaceDetectorSkips(t *testing.T) {
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	skipping := map[string]string{} // the package of each test that calls SkipIfRaced
	err = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join(root, "internal", "testenv") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range raceless(string(text)) {
			skipping[name] = "./" + filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), root+string(filepath.Separator)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(skipping) < 5 {
		t.Fatalf("%v: fewer tests than there are", skipping)
	}
	for test, in := range skipping {
		if !isRun(string(makefile), in) {
			t.Errorf("%s in %s runs nowhere: add its package to UNRACED in the Makefile", test, in)
		}
	}
}

func TestCheckRunsWhatTheRaceDetectorSkipsCanFail(t *testing.T) {
	for _, c := range []struct {
		makefile string
		want     bool
	}{
		{"UNRACED = ./a ./b\ncheck: deps\n", true},
		{"UNRACED = ./a \\\n\t$(MATRICES)\nMATRICES = ./a/... ./b/...\n\ncheck: deps\n", true},
		{"UNRACED = ./ab ./b/c\n\ncheck: deps\n\tgo test ./b\n", false},
	} {
		if got := isRun(c.makefile, "./b"); got != c.want {
			t.Errorf("%q: %t, want %t", c.makefile, got, c.want)
		}
	}
	if got := raceless("func TestX(t *testing.T) {\n\tcheck(t)\n}\n\nfunc TestY(t *testing.T) {\n\ttestenv.SkipIfRaced(t)\n}\n"); len(got) != 1 || got[0] != "TestY" {
		t.Errorf("found %q, want TestY", got)
	}
}

// raceless returns the functions of a file that call SkipIfRaced.
func raceless(file string) (names []string) {
	name := regexp.MustCompile(`^func (\w+)\(`)
	for part := range strings.SplitSeq(file, "\n}\n") {
		at := strings.Index("\n"+part, "\nfunc ")
		if at < 0 || !strings.Contains(part, "testenv.SkipIfRaced(") {
			continue
		}
		names = append(names, name.FindStringSubmatch(part[at:])[1])
	}
	return names
}

// isRun reports whether the Makefile runs the tests of a package without the race detector.
func isRun(makefile, in string) bool {
	_, after, _ := strings.Cut(makefile, "\nUNRACED = ")
	if strings.HasPrefix(makefile, "UNRACED = ") {
		after = makefile
	}
	named, _, _ := strings.Cut(after, "\n\n")
	named, _, _ = strings.Cut(named, "\ncheck:")
	return slices.ContainsFunc(strings.Fields(named), func(word string) bool {
		below, all := strings.CutSuffix(word, "/...")
		return word == in || all && (below == in || strings.HasPrefix(in, below+"/"))
	})
}
