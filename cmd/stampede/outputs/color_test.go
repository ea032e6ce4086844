package outputs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A buffer is no terminal, so auto writes no colours to it, and a file never gets any.
func TestColor(t *testing.T) {
	for color, want := range map[string]bool{"": false, auto: false, never: false, always: true} {
		var b bytes.Buffer
		outs, err := Flags{Formats: []string{"table"}, Color: color}.Open(results.KindRun, &b)
		if err != nil {
			t.Fatal(err)
		}
		if err := outs.Write(resulttest.Lock(), ""); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\x1b["); got != want {
			t.Errorf("--color %q: colours %v, want %v", color, got, want)
		}
	}
	_, err := Flags{Color: "alway"}.Open(results.KindRun, nil)
	if want := `--color: unknown choice "alway": did you mean "always"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
