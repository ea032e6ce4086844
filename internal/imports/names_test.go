package imports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// prepositions say nothing of what a function does, nor of what it returns.
const prepositions = "about above after against along among around as at before behind below beneath beside between " +
	"beyond by down during for from in inside into is near of off on onto out outside over past per since through to " +
	"toward under until up upon via with within without"

// prepositionsOf returns the functions and methods of packages that are named by a preposition alone, by
// package, in alphabetical order. A method that package errors calls keeps its name.
func prepositionsOf(root fs.FS) (map[string][]string, error) {
	found, words := make(map[string][]string), strings.Fields(prepositions)
	return found, eachFile(root, false, func(file string, _ *token.FileSet, parsed *ast.File) {
		see := func(name *ast.Ident, signature *ast.FuncType) {
			inErrors := name.Name == "Is" && len(signature.Params.List) == 1 && fmt.Sprint(signature.Params.List[0].Type) == "error"
			if slices.Contains(words, strings.ToLower(name.Name)) && !inErrors {
				found[path.Dir(file)] = append(found[path.Dir(file)], name.Name)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				see(n.Name, n.Type)
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					if signature, ok := m.Type.(*ast.FuncType); ok {
						see(m.Names[0], signature)
					}
				}
			}
			return true
		})
	})
}

// eachFile parses every file, or every file without tests.
func eachFile(root fs.FS, withTests bool, see func(file string, positions *token.FileSet, parsed *ast.File)) error {
	return fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.' {
			return fs.SkipDir // what is built there changes, and go test would not keep a result
		}
		if err != nil || d.IsDir() || path.Ext(file) != ".go" || !withTests && strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, file, text, 0)
		if err == nil {
			see(file, positions, parsed)
		}
		return err
	})
}

// No function or method is named by a preposition alone.
func TestNoFunctionIsNamedByAPreposition(t *testing.T) {
	found, err := prepositionsOf(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for pkg, names := range found {
		for _, name := range names {
			t.Errorf("%s: %s is a preposition: name what it does or returns", pkg, name)
		}
	}
}

func TestPrepositionsAreFound(t *testing.T) {
	found, err := prepositionsOf(fstest.MapFS{"a/b.go": {Data: []byte(`package a

type late struct{ error }

func (late) Is(target error) bool { return target == nil }
func (late) is(target string) bool { return target == "" }
func Of[T any](n T) T { return n }
func of_(n int) int { return n }
func offset(n int) int { return n }

type reader interface{ At(n int) int }
`)}, "a/b_test.go": {Data: []byte("package a\n\nfunc with() {}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(found), "map[a:[is Of At]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
