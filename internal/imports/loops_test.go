package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

// ending are the calls that end a loop whose context has ended: the context's own, and those that return its cause.
var ending = []string{"Cause", "Err", "Pause", "Sync", "look"}

// endless returns the loops that go on after ErrConnectionLoss and make no call that ends them, as file:line. Such
// a loop never ends once its context was cancelled because of a lost connection: each call then
// returns that cause at once.
func endless(root fs.FS) (found []string, err error) {
	err = eachFile(root, false, func(file string, positions *token.FileSet, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			loop, ok := n.(*ast.ForStmt)
			if ok && mentions(loop, "ErrConnectionLoss") && !slices.ContainsFunc(ending, func(name string) bool { return mentions(loop, name) }) {
				found = append(found, fmt.Sprintf("%s:%d", file, positions.Position(loop.Pos()).Line))
			}
			return true
		})
	})
	return found, err
}

// mentions reports whether a name occurs in a part of a file.
func mentions(in ast.Node, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

func TestLoopsEndWithTheirContext(t *testing.T) {
	found, err := endless(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, loop := range found {
		t.Errorf("%s: the loop may go on for ever after its context has ended: use drivers.Repeat", loop)
	}
}

func TestEndlessLoopsAreFound(t *testing.T) {
	const head = "package p\n\nfunc f() {\n"
	got, err := endless(fstest.MapFS{
		"a/bad.go":    {Data: []byte(head + "\tfor {\n\t\tif err := g(ctx); !errors.Is(err, drivers.ErrConnectionLoss) {\n\t\t\treturn\n\t\t}\n\t}\n}\n")},
		"b/good.go":   {Data: []byte(head + "\tfor {\n\t\tif err := g(ctx); !errors.Is(err, drivers.ErrConnectionLoss) || ctx.Err() != nil {\n\t\t\treturn\n\t\t}\n\t}\n}\n")},
		"c/better.go": {Data: []byte(head + "\tfor {\n\t\tif err := drivers.Pause(ctx, d); err != nil && !errors.Is(err, drivers.ErrConnectionLoss) {\n\t\t\treturn\n\t\t}\n\t}\n}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/bad.go:4"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
