package recipetest

import (
	"slices"
	"testing"
)

// caught fails the test unless each of the named cases detects the defect of a broken form.
func caught(t *testing.T, broken string, cases []sceneCase, by ...string) {
	t.Helper()
	for _, name := range by {
		i := slices.IndexFunc(cases, func(c sceneCase) bool { return c.name == name })
		if i < 0 {
			t.Fatalf("there is no case %q", name)
		}
		failures := verdictOf(t, cases[i].play)
		if len(failures) == 0 {
			t.Errorf("one that %s passes %q", broken, name)
		}
		t.Logf("%s: %.200q", name, failures)
	}
}

// covered fails the test unless every case catches a mutant.
func covered(t *testing.T, cases []sceneCase, catching []string) {
	t.Helper()
	for _, c := range cases {
		if !slices.Contains(catching, c.name) {
			t.Errorf("no mutant shows that %q can fail", c.name)
		}
	}
}
