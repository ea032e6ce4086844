package main

import (
	"fmt"
	"os"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// measuredCell describes what a run measured, as far as it can be compared with a planned cell.
func measuredCell(r results.Run) string {
	text := fmt.Sprintf("%s/%s with %d clients", r.Recipe, r.Form, r.Clients)
	if r.Mix != nil && r.ReadRatio != nil {
		text += mixCell(r.ReadRatio.Asked, r.Mix.SizeBytes)
	}
	return text
}

// plannedCell returns what measuredCell returns for a run of the cell.
func (s *sweep) plannedCell(c sweeps.Cell) string {
	form, mix := s.subjects[c.Subject].form, s.at[c.Level].Flags.Mix
	text := fmt.Sprintf("%v with %d clients", form, c.Level.Clients)
	if form.Recipe == "mix" {
		text += mixCell(mix.Reads, mix.Size)
	}
	return text
}

func mixCell(reads float64, size int) string {
	return fmt.Sprintf(", a share of %v reads and values of %d bytes", reads, size)
}

// saveState writes the file to the path that the table names.
func saveState(file results.Sweep) error {
	f, err := os.Create(file.State)
	if err != nil {
		return fmt.Errorf("save what was measured: %w", err)
	}
	if err := file.WriteJSON(f); err != nil {
		f.Close()
		return fmt.Errorf("save what was measured: %w", err)
	}
	return f.Close()
}

// readSaved reads the file of a sweep that was interrupted.
func readSaved(path string) (results.Sweep, error) {
	f, err := os.Open(path)
	if err != nil {
		return results.Sweep{}, cli.WithoutPath(err)
	}
	defer f.Close()
	return results.ReadSweep(f)
}
