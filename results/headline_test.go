package results

import "testing"

func TestAboutAndHeadline(t *testing.T) {
	other := sample{"watch", "recipe", 1000, 900, 1, 3, 2, 1, 1, 1, 0}.run(native())
	other.Recipe = "barrier"
	violated := herding(native())[2:]
	violated[1].Safety.Violations, violated[1].Safety.Checked = 3, 3050
	for _, c := range []struct {
		f               File
		about, headline string
	}{
		{file(), "no run", "Nothing was measured: no run was begun."},
		{file(herding(native())...), "lock: predecessor, one-node · native: · 2, 128 clients",
			"With 128 clients a release wakes 99 in the naive form and 1 in the recipe; 98 of the 99 go back to sleep."},
		{file(append(herding(native())[2:], other)...),
			"lock: predecessor, one-node; barrier: watch · native: · 128, 1\u202f000 clients",
			"lock: With 128 clients a release wakes 99 in the naive form and 1 in the recipe; 98 of the 99 go back to sleep."},
		{file(violated...), "lock: predecessor, one-node · native: · 128 clients",
			"SAFETY VIOLATED: lock/one-node with 128 clients broke its promise 3 times in 3\u202f050 checks; its numbers are void."},
	} {
		if got := c.f.About(); got != c.about {
			t.Errorf("about %q, want %q", got, c.about)
		}
		if got := c.f.Headline(); got != c.headline {
			t.Errorf("headline %q, want %q", got, c.headline)
		}
	}
}
