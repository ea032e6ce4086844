package main

import (
	"os"

	"github.com/stampede-bench/stampede/internal/printable"
)

// A screen is standard output or standard error. It makes control sequences visible, so that what
// is written to it can only show text on a terminal.
type screen struct {
	*printable.Writer
	file *os.File
}

func newScreen(file *os.File) screen { return screen{printable.NewWriter(file), file} }
