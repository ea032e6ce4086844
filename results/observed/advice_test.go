package observed

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
)

func TestAdvise(t *testing.T) {
	herd := func(path string, f observation.Form) observation.Place {
		f.Herd = true
		return observation.Place{Path: path, FanoutMax: 7, Form: &f}
	}
	got := Advise(observation.Report{Places: []observation.Place{
		herd("/job", observation.Form{Forms: []string{"election/one-node", "lock/one-node"}, Instead: "predecessor", Wakes: 1}),
		herd("/gate", observation.Form{Forms: []string{"double-barrier/children-watch"}, Instead: "ready"}),
		herd("/version", observation.Form{Instead: "predecessor", Wakes: 1}),
		herd("/other", observation.Form{Forms: []string{"queue/relist"}}),
		{Path: "/calm", FanoutMax: 1, Form: &observation.Form{Instead: "predecessor"}},
	}})
	want := []Advice{
		{"/job", "election", "predecessor", "/job: fanout.max <= 1"},
		{"/gate", "double-barrier", "ready", ""},
		{"/version", "lock", "predecessor", "/version: fanout.max <= 1"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

// TestPathsBeyondThePatternsAreSaid has a row of paths of which no form is recognised, because they are too many.
func TestPathsBeyondThePatternsAreSaid(t *testing.T) {
	o := results.Observation{Observed: observation.Report{Places: []observation.Place{
		{Path: "others", FanoutMax: 3, Sessions: 3, Changes: 380, Beyond: 190}}}}
	want := "NOT KNOWN: one change of others wakes up to 3 of 3 sessions; these are 380 changes at up to 190 paths, beyond the path patterns that are told apart."
	if got := Findings(o); got[0] != want {
		t.Errorf("%q, want %q", got[0], want)
	}
}

// TestAdviceHasAPage reads the forms that are recommended: each is described on the page of the recipe.
func TestAdviceHasAPage(t *testing.T) {
	files, err := filepath.Glob("../../metrics/pattern/form*.go")
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`Forms: \[\]string\{(?:"([\w-]+)/)?[^\n]*Instead: "([\w-]+)"`).FindAllStringSubmatch(string(source), -1) {
			f := observation.Form{}
			if m[1] != "" {
				f.Forms = []string{m[1] + "/"}
			}
			pairs++
			page, err := os.ReadFile("../../docs/recipes/" + recipeOf(f) + ".md")
			if err != nil || !strings.Contains(string(page), "\n### "+m[2]+"\n") {
				t.Errorf("%s: the page of %s does not describe %s: %v", file, recipeOf(f), m[2], err)
			}
		}
	}
	if pairs < 8 {
		t.Errorf("found %d forms that are recommended, want at least 8", pairs)
	}
}
