package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
)

// A failing records the message that a test fails with.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Errorf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

func TestCompareTellsWhatDiffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, path, []byte("one\ntwo\n"))
	f := &failing{TB: t}
	golden.Compare(f, path, []byte("one\nthree\n"))
	if !strings.HasPrefix(f.text, path+" differs") || !strings.Contains(f.text, "three") {
		t.Errorf("says %q", f.text)
	}
}
