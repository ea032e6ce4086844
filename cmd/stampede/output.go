package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/results"
)

// formats are the names that -o takes.
func formats() []string { return []string{"table", "json"} }

func registerOutput(cmd *cobra.Command, output *[]string) {
	cmd.Flags().StringArrayVarP(output, "output", "o", []string{"table"}, "`FORMAT[=PATH]`: table or json, repeatable; without a path to standard output")
}

// A view is a result that can be shown in each of the formats.
type view interface {
	WriteTable(w io.Writer, o results.TableOptions) error
	WriteJSON(w io.Writer) error
}

// An output is one format and where it goes.
type output struct {
	format string
	path   string   // "" for standard output
	file   *os.File // written beside path and moved there when whole; nil for standard output
	direct bool     // path is no regular file and is written to as it is
	std    io.Writer
}

type outputs []*output

// openOutputs makes sure, before anything runs, that every output can be
// written. It leaves what is there untouched until there is a result.
func openOutputs(specs []string, std io.Writer) (outputs, error) {
	var all outputs
	toStd := ""
	for _, spec := range specs {
		o := &output{std: std}
		o.format, o.path, _ = strings.Cut(spec, "=")
		if !slices.Contains(formats(), o.format) {
			all.discard()
			return nil, usage(nearest.Unknown("output format", o.format, formats()))
		}
		if o.path == "" {
			if toStd != "" {
				all.discard()
				return nil, usagef("-o %s and -o %s would both go to standard output: give one a path, -o %s=PATH", toStd, o.format, o.format)
			}
			toStd = o.format
		} else if err := o.open(); err != nil {
			all.discard()
			return nil, usagef("-o %s: cannot write there: %v", spec, err)
		}
		all = append(all, o)
	}
	return all, nil
}

func (o *output) open() (err error) {
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		o.direct = true
		o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
		return bare(err)
	}
	o.file, err = os.CreateTemp(filepath.Dir(o.path), ".stampede-*")
	return bare(err)
}

// bare is the error without the name of the temporary file.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// write writes the view to all of them. Kept is where else it is, "" if nowhere.
func (all outputs) write(v view, kept string) error {
	saved := all.paths(kept)
	for _, o := range all {
		if err := o.write(v, saved); err != nil {
			return fmt.Errorf("write %s: %w", o.format, err)
		}
	}
	return nil
}

func (o *output) write(v view, saved string) error {
	if o.file == nil {
		return o.render(o.std, v, saved)
	}
	if err := o.render(o.file, v, saved); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil || o.direct {
		o.file = nil
		return err
	}
	if err := os.Chmod(o.file.Name(), 0o644); err != nil {
		return err
	}
	err := os.Rename(o.file.Name(), o.path)
	if err == nil {
		o.file = nil
	}
	return err
}

func (o *output) render(w io.Writer, v view, saved string) error {
	if o.format == "json" {
		return v.WriteJSON(w)
	}
	return v.WriteTable(w, results.TableOptions{Bold: o.bold(), Saved: saved})
}

// bold tells whether the output goes to a terminal that may show it.
func (o *output) bold() bool {
	return o.file == nil && isTerminal(o.std) && os.Getenv("NO_COLOR") == ""
}

// paths are where the view is to be found, for the table to name.
func (all outputs) paths(kept string) string {
	var paths []string
	if kept != "" {
		paths = append(paths, kept)
	}
	for _, o := range all {
		if o.path != "" {
			paths = append(paths, o.path)
		}
	}
	return strings.Join(paths, ", ")
}

// jsonPath is the file that has the whole result, "" if none has.
func (all outputs) jsonPath() string {
	for _, o := range all {
		if o.format == "json" && !o.direct {
			return o.path
		}
	}
	return ""
}

// discard removes what was begun and not written.
func (all outputs) discard() {
	for _, o := range all {
		if o.file == nil {
			continue
		}
		o.file.Close()
		if !o.direct {
			os.Remove(o.file.Name())
		}
	}
}
