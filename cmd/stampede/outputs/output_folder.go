package outputs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
)

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
		one := &destination{path: filepath.Join(o.path, f.Name)}
		if err := one.open(); err != nil {
			return err
		}
		defer List{one}.Discard()
		if _, err := one.file.WriteString(f.SVG); err != nil {
			return err
		}
		if err := one.done(); err != nil {
			return err
		}
	}
	return nil
}
