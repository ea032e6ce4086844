// Package outputs writes a result in each format that was asked for, to files or to standard output.
package outputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/render"
)

// Flags are the flags that say in which formats a command writes its results, where to, and whether
// in colour.
type Flags struct {
	Formats []string // FORMAT or FORMAT=PATH
	Color   string   // "" is auto
}

// Register adds the flags to a command whose results are of the kind; "" stands for a command that
// shows results of every kind.
func (f *Flags) Register(cmd *cobra.Command, kind string) {
	usage := "`FORMAT[=PATH]`, repeatable; without a path, or to -, to standard output:"
	var words []string
	for _, f := range render.FormatsFor(kind) {
		usage += fmt.Sprintf("\n  %-9s %s", f.Name, f.For)
		words = append(words, f.Name+"\t"+f.For)
	}
	cmd.Flags().StringArrayVarP(&f.Formats, "output", "o", []string{"table"}, usage+"\n")
	cmd.Flags().StringVar(&f.Color, "color", auto, "`WHEN` tables have colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	cli.Complete(cmd, "output", func() []string { return words })
	cli.Complete(cmd, "color", whens)
}

// A destination is one format and its destination.
type destination struct {
	format render.Format
	path   string   // "" for standard output
	file   *os.File // a temporary file beside path, renamed to path when complete; nil for standard output
	direct bool     // path is not a regular file and is written to directly
	std    io.Writer
	color  bool // to standard output
}

// A List holds all outputs of a command.
type List []*destination

// Open checks, before anything runs, that every output can show a result of the kind and can
// be written. It leaves existing files untouched until there is a result.
func (f Flags) Open(kind string, std io.Writer) (List, error) {
	color, err := f.colored(std)
	if err != nil {
		return nil, err
	}
	var all List
	toStd := ""
	for _, spec := range f.Formats {
		name, path, _ := strings.Cut(spec, "=")
		if path == "-" {
			path = ""
		}
		format, err := findFormat(name, kind)
		if err != nil {
			all.Discard()
			return nil, cli.Usage(err)
		}
		o := &destination{format: format, path: path, std: std, color: color}
		if o.path == "" && format.Files != nil {
			all.Discard()
			return nil, cli.Usagef("-o %s: there are several files: give them a folder, -o %s=FOLDER", name, name)
		}
		if o.path == "" {
			if toStd != "" {
				all.Discard()
				return nil, cli.Usagef("-o %s and -o %s would both go to standard output: give one a path, -o %s=PATH", toStd, name, name)
			}
			toStd = name
		} else if err := o.open(); err != nil {
			all.Discard()
			return nil, cli.Usagef("-o %s: cannot write there: %v", spec, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// findFormat returns the format of that name, if it can show results of the kind.
func findFormat(name, kind string) (render.Format, error) {
	all := render.Formats()
	i := slices.IndexFunc(all, func(f render.Format) bool { return f.Name == name })
	if i < 0 {
		return render.Format{}, suggest.Unknown("output format", name, render.Names(render.FormatsFor(kind)))
	}
	if !all[i].Supports(kind) {
		return render.Format{}, all[i].Refuse(kind)
	}
	return all[i], nil
}

func (o *destination) open() (err error) {
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
		return cli.WithoutPath(err)
	case err == nil: // replace the target of a link, not the link
		if o.path, err = filepath.EvalSymlinks(o.path); err != nil {
			return cli.WithoutPath(err)
		}
	}
	o.file, err = os.CreateTemp(filepath.Dir(o.path), ".stampede-*")
	return cli.WithoutPath(err)
}

// Write writes the view to every output, even if one of them fails. Kept is where else the result is saved, "" if
// nowhere. Files come first: an output names only those that have been written.
func (all List) Write(v results.Result, kept string) error {
	var saved []string
	if kept != "" {
		saved = append(saved, kept)
	}
	var errs []error
	for _, file := range []bool{true, false} {
		for _, o := range all {
			if (o.path != "") != file {
				continue
			}
			if err := o.write(v, strings.Join(saved, ", ")); err != nil {
				errs = append(errs, fmt.Errorf("write %s: %w", o.format.Name, err))
			} else if file {
				saved = append(saved, o.path)
			}
		}
	}
	return errors.Join(errs...)
}

func (o *destination) write(v results.Result, saved string) error {
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
func (o *destination) done() error {
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

func (o *destination) render(w io.Writer, v results.Result, saved string) error {
	options := render.Options{Saved: saved, Summary: os.Getenv("GITHUB_STEP_SUMMARY")}
	if o.file == nil {
		options.Color, options.Width = o.color, cli.Columns(o.std)
	}
	return o.format.Write(w, v, options)
}

// openFolder checks that files can be written to the output's folder. A missing folder is created
// when there is something to write.
func (o *destination) openFolder() error {
	in := o.path
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		in = filepath.Dir(filepath.Clean(o.path))
	case err != nil:
		return cli.WithoutPath(err)
	case !info.IsDir():
		return errors.New("it is a file: a folder is wanted")
	}
	probe, err := os.CreateTemp(in, ".stampede-*")
	if err != nil {
		return cli.WithoutPath(err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writeFolder writes each file completely or not at all.
func (o *destination) writeFolder(v results.Result) error {
	files := o.format.Files(v)
	if len(files) == 0 {
		return errors.New("there is nothing to draw")
	}
	if err := os.MkdirAll(o.path, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := archive.Replace(filepath.Join(o.path, f.Name), []byte(f.SVG)); err != nil {
			return err
		}
	}
	return nil
}

// HasTable reports whether there is a table on standard output.
func (all List) HasTable() bool {
	return slices.ContainsFunc(all, func(o *destination) bool { return o.format.Name == "table" && o.path == "" })
}

// JSONPath returns the file that has the whole result, or "" if none has.
func (all List) JSONPath() string {
	for _, o := range all {
		if o.format.Name == "json" && !o.direct {
			return o.path
		}
	}
	return ""
}

// Discard removes the temporary files that have not been moved to their paths.
func (all List) Discard() {
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

// The values of --color.
const (
	auto   = "auto"
	always = "always"
	never  = "never"
)

func whens() []string { return []string{auto, always, never} }

// colored reports whether tables on standard output have colours and bold type.
func (f Flags) colored(std io.Writer) (bool, error) {
	switch {
	case f.Color != "" && !slices.Contains(whens(), f.Color):
		return false, cli.Usagef("--color: %w", suggest.Unknown("choice", f.Color, whens()))
	case f.Color == always, f.Color == never:
		return f.Color == always, nil
	}
	return cli.IsTerminal(std) && os.Getenv("NO_COLOR") == "", nil
}
