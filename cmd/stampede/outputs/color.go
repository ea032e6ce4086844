package outputs

import (
	"io"
	"os"
	"slices"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
)

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
