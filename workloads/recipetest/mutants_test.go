package recipetest

import (
	"slices"
	"testing"
)

// plants has forms of one recipe, F, each with one defect, and the correct form.
type plants[F any] struct {
	right   F
	suite   func(F) ([]lockCase, LockForm)
	planted []plant[F]
}

type plant[F any] struct {
	name     string
	form     F
	caughtBy []string // the cases that must detect the defect
}

func newMutants[F any](right F, suite func(F) ([]lockCase, LockForm)) *plants[F] {
	return &plants[F]{right: right, suite: suite}
}

func (p *plants[F]) plant(name string, form F, caughtBy ...string) *plants[F] {
	p.planted = append(p.planted, plant[F]{name, form, caughtBy})
	return p
}

// run fails the test unless each mutant is caught by its cases, the correct form is caught by
// none, and each case catches a mutant.
func (p *plants[F]) run(t *testing.T) {
	cases, _ := p.suite(p.right)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, lock := p.suite(p.right)
			if failures := verdict(t, c, lock); failures != nil {
				t.Errorf("the form that is right: %v", failures)
			}
			if !slices.ContainsFunc(p.planted, func(m plant[F]) bool { return slices.Contains(m.caughtBy, c.name) }) {
				t.Error("no mutant shows that this can fail")
			}
		})
	}
	for _, m := range p.planted {
		t.Run(m.name, func(t *testing.T) {
			cases, lock := p.suite(m.form)
			for _, name := range m.caughtBy {
				i := slices.IndexFunc(cases, func(c lockCase) bool { return c.name == name })
				if i < 0 {
					t.Fatalf("there is no case %q", name)
				}
				failures := verdict(t, cases[i], lock)
				if len(failures) == 0 {
					t.Errorf("a form that %s passes %q", m.name, name)
				}
				t.Logf("%s: %.200q", name, failures)
			}
		})
	}
}
