package main

import (
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/cmd/stampede/spec/spectest"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// TestPrintedCommandSetsEveryFlag checks that the command in a table sets every flag as it was,
// including booleans, which take no word after them.
func TestPrintedCommandSetsEveryFlag(t *testing.T) {
	for _, name := range []string{"run", "count", "sweep", "ab", "calibrate", "compare"} {
		a := &app{forms: catalog.Forms(), out: io.Discard, err: io.Discard}
		asked, _, err := a.root().Find([]string{name})
		cli.Must(err)
		again, _, err := a.root().Find([]string{name})
		cli.Must(err)
		asked.Flags().VisitAll(func(f *pflag.Flag) { spectest.SetOther(t, f) })
		if err := again.ParseFlags(spec.Changed(asked.Flags())); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if rest := again.Flags().Args(); len(rest) > 0 {
			t.Errorf("%s: %q are taken for arguments", name, rest)
		}
		asked.Flags().VisitAll(func(f *pflag.Flag) {
			want := f.Value.String()
			switch {
			case slices.Contains([]string{spec.MetricsFlag, spec.ListenFlag, "output", "color", "save", "no-save", "subject", "tag", "quiet", "dry-run", "resume", "seed"}, f.Name):
				want = f.DefValue
			case f.Name == "user":
				want = "redacted"
			}
			if got := again.Flags().Lookup(f.Name).Value.String(); got != want {
				t.Errorf("%s --%s: %s", name, f.Name, cmp.Diff(want, got))
			}
		})
	}
}
