package main

import (
	"fmt"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
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

// readSaved reads the file of a sweep that was interrupted.
func readSaved(path string) (results.Sweep, error) {
	v, err := archive.ReadAny(path)
	if err != nil {
		return results.Sweep{}, err
	}
	s, is := v.(results.Sweep)
	if !is {
		return s, fmt.Errorf("%s: a result of kind %s: want %s", path, results.KindOf(v), results.KindSweep)
	}
	return s, nil
}
