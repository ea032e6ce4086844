package recipes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTwinsDeclareTheSame checks that the default forms in recipes and naive
// have the same declarations in the same order, so that a diff shows the herd
// and nothing else. A recipe may have fields that its naive counterpart lacks.
func TestTwinsDeclareTheSame(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	twins := slices.DeleteFunc(files, func(name string) bool {
		return name == "doc.go" || strings.Contains(name, "_") // other forms and tests
	})
	if len(twins) == 0 {
		t.Fatal("there are no recipes")
	}
	for _, name := range twins {
		ours, theirs := declarations(t, name), declarations(t, filepath.Join("..", "naive", name))
		kept := slices.DeleteFunc(slices.Clone(ours), func(line string) bool {
			return strings.HasPrefix(line, "\t") && !slices.Contains(theirs, line)
		})
		if !slices.Equal(kept, theirs) {
			t.Errorf("%s declares\n%s\nits naive twin\n%s", name, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	}
}

// declarations returns a file's types with their fields and its functions with
// their signatures, in order.
func declarations(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver := ""
			if d.Recv != nil {
				receiver = types.ExprString(d.Recv.List[0].Type) + "."
			}
			found = append(found, receiver+d.Name.Name+" "+types.ExprString(d.Type))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					found = append(found, fields(s)...)
				}
			}
		}
	}
	return found
}

func fields(s *ast.TypeSpec) []string {
	found := []string{"type " + s.Name.Name}
	structure, ok := s.Type.(*ast.StructType)
	if !ok {
		return append(found, types.ExprString(s.Type))
	}
	for _, f := range structure.Fields.List {
		for _, name := range f.Names {
			found = append(found, "\t"+name.Name+" "+types.ExprString(f.Type))
		}
	}
	return found
}
