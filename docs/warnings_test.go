package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The page on reports explains every warning code.
func TestWarningCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("report.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../metrics/warning.go", "../results/warning.go"} {
		codes := constants(t, path)
		if len(codes) == 0 {
			t.Errorf("%s has no codes", path)
		}
		for _, code := range codes {
			if !strings.Contains(string(page), "| `"+code+"` |") {
				t.Errorf("report.md does not explain %s", code)
			}
		}
	}
}

// constants returns the values of the file's string constants.
func constants(t *testing.T, path string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for _, v := range s.(*ast.ValueSpec).Values {
				literal, ok := v.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					continue
				}
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, value)
			}
		}
	}
	return all
}
