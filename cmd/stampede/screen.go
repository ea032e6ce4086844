package main

import (
	"os"

	"github.com/stampede-bench/stampede/internal/printable"
)

// A screen is standard output or standard error. What is written to it makes a
// terminal do nothing but show text.
type screen struct {
	*printable.Writer
	file *os.File
}

func newScreen(file *os.File) screen { return screen{printable.NewWriter(file), file} }
