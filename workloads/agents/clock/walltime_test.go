package clock

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A latency between machines must not depend on the wall clock, which is set and adjusted during a run. Two
// tests hold this: no source file uses a wall time, and a Clock keeps the monotonic reading of its start. The
// test in a time namespace shows it too: there the wall clocks agree, and the monotonic ones do not.

// wallTimes are the functions and methods of package time that read the wall time, or remove the monotonic
// reading from a time.
var wallTimes = []string{
	"Unix", "UnixMilli", "UnixMicro", "UnixNano", "Date", "Parse", "ParseInLocation",
	"Round", "Truncate", "UTC", "Local", "In", "AddDate", "Format", "AppendFormat",
	"MarshalJSON", "MarshalText", "MarshalBinary", "GobEncode",
}

// present lists the functions that may read the present time: for the start of a clock, and as a deadline
// that has passed.
var present = []string{"StartClock", "interrupt"}

// wallTimesOf lists the uses of wall times in a source file.
func wallTimesOf(name string, source any) (found []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		within := ""
		if f, is := d.(*ast.FuncDecl); is {
			within = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			s, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			pkg, _ := s.X.(*ast.Ident)
			now := pkg != nil && pkg.Name == "time" && s.Sel.Name == "Now" && !slices.Contains(present, within)
			if now || slices.Contains(wallTimes, s.Sel.Name) {
				found = append(found, fmt.Sprintf("%s: %s in %q", name, s.Sel.Name, within))
			}
			return true
		})
	}
	return found, nil
}

func TestNoWallTimes(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		checked++
		found, err := wallTimesOf(f.Name(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range found {
			t.Error(use)
		}
	}
	if checked < 4 {
		t.Errorf("%d files were checked, want all", checked)
	}
}

func TestNoWallTimesCanFail(t *testing.T) {
	found, err := wallTimesOf("p.go", `package p
		func StartClock() Clock { return Clock{time.Now()} }
		func wall() int64 { return time.Now().UnixNano() }
		func Strip(c Clock) Clock { return Clock{c.start.Round(0)} }
		var start = time.Now()
	`)
	want := []string{`p.go: UnixNano in "wall"`, `p.go: Now in "wall"`, `p.go: Round in "Strip"`, `p.go: Now in ""`}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("got %q, %v; want %q", found, err, want)
	}
}

// monotonic reports whether a time has a monotonic reading: its text then ends with it.
func monotonic(t time.Time) bool { return strings.Contains(t.String(), " m=") }

func TestAClockIsMonotonic(t *testing.T) {
	c := StartClock()
	if !monotonic(c.start) {
		t.Error("the start of a clock has no monotonic reading")
	}
	if monotonic(Clock{c.start.Round(0)}.start) {
		t.Error("the test does not find that a monotonic reading is missing")
	}
	if a, b := readingNow(c)(), readingNow(c)(); b.Sub(a) < 0 || a.SinceStart() < 0 {
		t.Errorf("%v, then %v", a, b)
	}
	if a, b := c.CoordinatorNow(), c.CoordinatorNow(); b.Sub(a) < 0 || a.SinceStart() < 0 {
		t.Errorf("%v, then %v", a, b)
	}
}
