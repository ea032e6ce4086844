package cli

import (
	"io"
	"os"

	"github.com/stampede-bench/stampede/internal/printable"
	"golang.org/x/term"
)

// A Screen is standard output or standard error. It makes control sequences visible, so that what
// is written to it can only show text on a terminal.
type Screen struct {
	*printable.Writer
	File *os.File
}

// NewScreen returns the screen that writes to the file.
func NewScreen(file *os.File) Screen { return Screen{printable.NewWriter(file), file} }

// IsTerminal reports whether a writer is a screen on a terminal.
func IsTerminal(w io.Writer) bool {
	s, ok := w.(Screen)
	return ok && term.IsTerminal(int(s.File.Fd()))
}

// Columns returns the width of the terminal that a writer is a screen on, 0 if it is on none.
func Columns(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	columns, _, _ := term.GetSize(int(w.(Screen).File.Fd())) // 0 if it is not known
	return columns
}
