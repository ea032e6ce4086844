package testenv

import (
	"os"
	"path/filepath"
	"regexp"
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
		if !isRun(string(makefile), test, in) {
			t.Errorf("%s in %s runs nowhere: add its package to SIMULATED in the Makefile, or its name to check", test, in)
		}
	}
}

func TestCheckRunsWhatTheRaceDetectorSkipsCanFail(t *testing.T) {
	for _, c := range []struct {
		makefile string
		want     bool
	}{
		{"SIMULATED = ./a ./b\ncheck: deps\n", true},
		{"SIMULATED = ./ab\ncheck: deps\n\tgo test -run '^TestX$$' ./b\n", true},
		{"SIMULATED = ./ab\ncheck: deps\n\tgo test -run '^TestXY$$' ./b\n", false},
	} {
		if got := isRun(c.makefile, "TestX", "./b"); got != c.want {
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

// isRun reports whether the Makefile runs a test without the race detector.
func isRun(makefile, test, in string) bool {
	simulated := regexp.MustCompile(`(?m)^SIMULATED = .*` + regexp.QuoteMeta(in) + `( |$)`)
	return simulated.MatchString(makefile) || strings.Contains(makefile, "'^"+test+"$$'")
}
