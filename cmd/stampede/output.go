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
	"github.com/stampede-bench/stampede/results/formats"
)

// registerOutput adds -o to a command whose results are of the kind; "" stands for a command that
// shows results of every kind.
func registerOutput(cmd *cobra.Command, output *[]string, kind string) {
	usage := "`FORMAT[=PATH]`, repeatable; without a path to standard output:"
	var words []string
	for _, f := range formats.Of(kind) {
		usage += fmt.Sprintf("\n  %-9s %s", f.Name, f.For)
		words = append(words, f.Name+"\t"+f.For)
	}
	cmd.Flags().StringArrayVarP(output, "output", "o", []string{"table"}, usage+"\n")
	complete(cmd, "output", func() []string { return words })
}

// An output is one format and its destination.
type output struct {
	format formats.Format
	path   string   // "" for standard output
	file   *os.File // a temporary file beside path, renamed to path when complete; nil for standard output
	direct bool     // path is not a regular file and is written to directly
	std    io.Writer
}

type outputs []*output

// openOutputs checks, before anything runs, that every output can show a result of the kind and can
// be written. It leaves existing files untouched until there is a result.
func openOutputs(specs []string, kind string, std io.Writer) (outputs, error) {
	var all outputs
	toStd := ""
	for _, spec := range specs {
		name, path, _ := strings.Cut(spec, "=")
		format, err := findFormat(name, kind)
		if err != nil {
			all.discard()
			return nil, usage(err)
		}
		o := &output{format: format, path: path, std: std}
		if o.path == "" && format.Files != nil {
			all.discard()
			return nil, usagef("-o %s: there are several files: give them a folder, -o %s=FOLDER", name, name)
		}
		if o.path == "" {
			if toStd != "" {
				all.discard()
				return nil, usagef("-o %s and -o %s would both go to standard output: give one a path, -o %s=PATH", toStd, name, name)
			}
			toStd = name
		} else if err := o.open(); err != nil {
			all.discard()
			return nil, usagef("-o %s: cannot write there: %v", spec, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// findFormat returns the format of that name, if it can show results of the kind.
func findFormat(name, kind string) (formats.Format, error) {
	all := formats.All()
	i := slices.IndexFunc(all, func(f formats.Format) bool { return f.Name == name })
	if i < 0 {
		return formats.Format{}, nearest.Unknown("output format", name, formats.Names(formats.Of(kind)))
	}
	if !all[i].Shows(kind) {
		return formats.Format{}, all[i].Refuse(kind)
	}
	return all[i], nil
}

func (o *output) open() (err error) {
	if o.format.Files != nil {
		return o.openFolder()
	}
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && (!info.Mode().IsRegular() || strings.HasPrefix(o.path, "/dev/")): // a name in /dev may stand for an open file
		o.direct = true
		o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND, 0)
		return bare(err)
	case err == nil: // replace the target of a link, not the link
		if o.path, err = filepath.EvalSymlinks(o.path); err != nil {
			return bare(err)
		}
	}
	o.file, err = os.CreateTemp(filepath.Dir(o.path), ".stampede-*")
	return bare(err)
}

// bare returns the error without the name of the temporary file.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// write writes the view to every output, even if one of them fails. Kept is where else the result
// is saved, "" if nowhere.
func (all outputs) write(v results.View, kept string) error {
	saved := all.paths(kept)
	var errs []error
	for _, o := range all {
		if err := o.write(v, saved); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", o.format.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (o *output) write(v results.View, saved string) error {
	switch {
	case o.format.Files != nil:
		return o.writeFolder(v)
	case o.file == nil:
		return o.render(o.std, v, saved)
	}
	if err := o.render(o.file, v, saved); err != nil {
		return err
	}
	return o.done()
}

// done moves the temporary file to its path.
func (o *output) done() error {
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

func (o *output) render(w io.Writer, v results.View, saved string) error {
	return o.format.Write(w, v, formats.Options{
		TableOptions: results.TableOptions{Bold: o.bold(), Saved: saved},
		Summary:      os.Getenv("GITHUB_STEP_SUMMARY"),
	})
}

// bold reports whether the output goes to a terminal that may show bold text.
func (o *output) bold() bool {
	return o.file == nil && isTerminal(o.std) && os.Getenv("NO_COLOR") == ""
}

// paths returns where the view is saved, for the table to name.
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

// tell reports whether there is a table on standard output.
func (all outputs) tell() bool {
	return slices.ContainsFunc(all, func(o *output) bool { return o.format.Name == "table" && o.path == "" })
}

// jsonPath returns the file that has the whole result, or "" if none has.
func (all outputs) jsonPath() string {
	for _, o := range all {
		if o.format.Name == "json" && !o.direct {
			return o.path
		}
	}
	return ""
}

// discard removes the temporary files that have not been moved to their paths.
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
