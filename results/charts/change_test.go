package charts

import (
	"strings"
	"testing"
)

// TestChangeAgainstMembers checks that the chart has a name for each line and says all figures in
// words, also of systems that have no line.
func TestChangeAgainstMembers(t *testing.T) {
	f := ChangeAgainstMembers([]Growth{
		{"N−1: a and 1 more", []string{"a", "b"}, []int{2, 8}, []float64{1, 7}},
		{"1: c", []string{"c"}, []int{2, 8}, []float64{1, 1}},
		{"0: d", []string{"d"}, []int{2, 8}, []float64{0, 0}},
	})
	if f.Name != "systems.svg" {
		t.Errorf("the file is %s", f.Name)
	}
	for _, want := range []string{">N−1: a and 1 more</text>", ">1: c</text>", "a, b: 7 with 8 members; c: 1 with 8 members.", "Without notifications: d."} {
		if !strings.Contains(f.SVG, want) {
			t.Errorf("no %q in the chart", want)
		}
	}
	if strings.Contains(f.SVG, ">0: d</text>") {
		t.Error("a line without notifications has a name")
	}
}
