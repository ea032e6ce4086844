package main

import (
	"fmt"

	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
)

// saveAndWrite saves the result and writes it to the outputs. A result that cannot be saved is
// still written, and a warning says why it is not saved.
func (a *app) saveAndWrite(s *spec.Saving, outs outputs.List, r results.Result) error {
	saved, unsaved := s.Keep(r)
	if err := outs.Write(r, saved); err != nil {
		return err
	}
	if unsaved != nil {
		fmt.Fprintf(a.err, "stampede: warning: %v\n", unsaved)
	}
	return nil
}
