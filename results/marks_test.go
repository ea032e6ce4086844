package results

import (
	"slices"
	"testing"
)

func TestMarks(t *testing.T) {
	tags, err := ParseTags([]string{"branch=main", "os=linux=6"})
	if err != nil {
		t.Fatal(err)
	}
	m := Marks{Subject: "4f2a", Tags: tags}
	if got, want := m.Words(), []string{"4f2a", "branch=main", "os=linux=6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct {
		of   map[string]string
		have bool
	}{{nil, true}, {map[string]string{"branch": "main"}, true}, {map[string]string{"branch": "other"}, false}, {map[string]string{"branch": "main", "cpu": "arm"}, false}} {
		if m.Have(c.of) != c.have {
			t.Errorf("%v: have %v, want %v", c.of, !c.have, c.have)
		}
	}
	if got := HeadOf(Sweep{File: File{Head: Head{Marks: m}}}).Subject; got != "4f2a" {
		t.Errorf("a sweep has the subject %q", got)
	}
}
