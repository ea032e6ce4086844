package imports

import (
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// unsteady returns what a test of go test -short may do although its outcome depends on real time, on chance or on another
// program: the uses, with their lines, by "folder.function" or "folder.Type.method".
//
// The search begins at each test and goes on to the functions, variables and types that it mentions by name, in its folder
// and in packages for tests, and from a type to its methods. It leaves out what stands in a block behind testenv.SkipIfShort,
// or behind the call of a function that calls it; what is passed to a bubble, whose clock is fake; and what is only logged.
// Benchmarks, fuzz targets, examples and TestMain are no tests. A limit of a minute or more decides nothing.
//
// It knows names and no types: it cannot see that a time in a variable is compared, nor what an interface calls.
func unsteady(root fs.FS) (map[string][]string, error) {
	s, err := parse(root)
	if err != nil {
		return nil, err
	}
	s.findSkipping()
	for _, d := range s.all {
		if f, ok := d.node.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(d.name, "Test") && d.name != "TestMain" && d.in.tests {
			s.reach(d)
		}
	}
	found := map[string][]string{}
	for d := range s.reached {
		for use := range s.uses(d) {
			found[d.key()] = append(found[d.key()], use)
		}
	}
	for _, uses := range found {
		slices.Sort(uses)
	}
	return found, nil
}

// A source is a parsed file.
type source struct {
	folder    string
	tests     bool
	imports   map[string]string // paths by the names that the file uses
	positions *token.FileSet
	parsed    *ast.File
}

// A declared is a function, a method, a variable or a type that a source declares at its top.
type declared struct {
	in         *source
	name, of   string // of is the type of a method
	node       ast.Node
	skipsShort bool // a function that calls SkipIfShort for its caller
	bubbles    bool // a function that passes what it is given to a bubble
}

func (d *declared) key() string {
	if d.of != "" {
		return d.in.folder + "." + d.of + "." + d.name
	}
	return d.in.folder + "." + d.name
}

// A search holds the declarations of all sources, and which of them a test reaches.
type search struct {
	all       []*declared
	named     map[string][]*declared // all but methods, by "folder.name"
	methods   map[string][]*declared // by "folder.Type"
	constants map[string]constant    // by "folder.name", those of all packages
	reached   map[*declared]bool
}

// A constant is the value of one, and where it is.
type constant struct {
	in    *source
	value ast.Expr
}

func (d *declared) isType() bool {
	_, ok := d.node.(*ast.TypeSpec)
	return ok
}

// parse reads the sources of a module. It follows those of tests, and of packages for tests, which import package testing.
func parse(root fs.FS) (*search, error) {
	s := &search{
		named: map[string][]*declared{}, methods: map[string][]*declared{}, constants: map[string]constant{}, reached: map[*declared]bool{},
	}
	var files []*source
	forTests := map[string]bool{}
	err := eachFile(root, true, func(file string, positions *token.FileSet, parsed *ast.File) {
		f := &source{path.Dir(file), strings.HasSuffix(file, "_test.go"), map[string]string{}, positions, parsed}
		for _, i := range parsed.Imports {
			to, _ := strconv.Unquote(i.Path.Value)
			name := path.Base(strings.TrimSuffix(to, "/v2"))
			if i.Name != nil {
				name = i.Name.Name
			}
			f.imports[name] = to
		}
		files = append(files, f)
		forTests[f.folder] = forTests[f.folder] || f.imports["testing"] != "" && !f.tests
	})
	for _, f := range files {
		for _, decl := range f.parsed.Decls {
			s.declare(f, decl, f.tests || forTests[f.folder])
		}
	}
	return s, err
}

// declare adds a declaration; of one that is not followed only the constants.
func (s *search) declare(f *source, decl ast.Decl, follow bool) {
	add := func(name, of string, node ast.Node) {
		d := &declared{in: f, name: name, of: of, node: node}
		if !follow {
			return
		}
		s.all = append(s.all, d)
		if at := f.folder + "." + of; of != "" {
			s.methods[at] = append(s.methods[at], d)
		} else {
			s.named[d.key()] = append(s.named[d.key()], d)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		of := ""
		if decl.Recv != nil {
			of, _, _ = strings.Cut(strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*"), "[")
		}
		add(decl.Name.Name, of, decl)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name.Name, "", spec)
			case *ast.ValueSpec:
				for i, name := range spec.Names {
					if decl.Tok == token.VAR {
						add(name.Name, "", spec)
					} else if i < len(spec.Values) {
						s.constants[f.folder+"."+name.Name] = constant{f, spec.Values[i]}
					}
				}
			}
		}
	}
}

// reach follows a declaration that a test mentions.
func (s *search) reach(d *declared) {
	if s.reached[d] {
		return
	}
	s.reached[d] = true
	if d.isType() {
		for _, m := range s.methods[d.key()] {
			s.reach(m)
		}
	}
	s.inShort(d, func(n ast.Node) {
		for _, mentioned := range s.mentioned(d.in, n) {
			s.reach(mentioned)
		}
	})
}

// mention returns the key of what a name stands for in a file, if it is of this module.
func (f *source) mention(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		return f.folder + "." + n.Name
	case *ast.SelectorExpr:
		pkg, name := f.selected(n)
		if in, ok := strings.CutPrefix(pkg, module); ok {
			return in + "." + name
		}
	}
	return ""
}

// mentioned returns what a name in a file stands for: several declarations if each system has one, or each package of a folder.
func (s *search) mentioned(f *source, n ast.Node) []*declared {
	found := s.named[f.mention(n)]
	if id, ok := n.(*ast.Ident); ok {
		if id.Obj != nil && f.parsed.Scope.Objects[id.Name] != id.Obj {
			return nil // a variable or a parameter
		}
		found = append(found, s.named[strings.TrimPrefix(f.imports["."], module)+"."+id.Name]...)
	}
	return found
}

// selected returns the path and the name of what a selector takes from a package, or the name alone, of a method.
func (f *source) selected(n ast.Node) (pkg, name string) {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := selector.X.(*ast.Ident); ok {
		pkg = f.imports[x.Name]
	}
	return pkg, selector.Sel.Name
}

// findSkipping finds the functions that call SkipIfShort in their first block, and those that call such a function there.
func (s *search) findSkipping() {
	for again := true; again; {
		again = false
		for _, d := range s.all {
			f, ok := d.node.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if !d.skipsShort && slices.ContainsFunc(f.Body.List, func(n ast.Stmt) bool { return s.skips(d.in, n) }) {
				d.skipsShort, again = true, true
			}
			if !d.bubbles && s.passesToBubble(d.in, f) {
				d.bubbles, again = true, true
			}
		}
	}
}

// passesToBubble reports whether a function calls one of its parameters in a bubble.
func (s *search) passesToBubble(in *source, f *ast.FuncDecl) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.isBubble(in, call) {
			for _, parameter := range f.Type.Params.List {
				_, isFunction := parameter.Type.(*ast.FuncType)
				for _, name := range parameter.Names {
					found = found || isFunction && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return mentions(arg, name.Name) })
				}
			}
		}
		return !found
	})
	return found
}

// isBubble reports whether a call runs what it is given in a bubble.
func (s *search) isBubble(in *source, call *ast.CallExpr) bool {
	key := in.mention(call.Fun)
	pkg, name := in.selected(call.Fun)
	return key == "internal/bubble.Test" || pkg == "testing/synctest" && name == "Test" ||
		slices.ContainsFunc(s.mentioned(in, call.Fun), func(d *declared) bool { return d.bubbles })
}

// skips reports whether nothing of a block runs in short after a statement.
func (s *search) skips(f *source, n ast.Stmt) bool {
	var calls []ast.Expr
	switch n := n.(type) {
	case *ast.ExprStmt:
		calls = []ast.Expr{n.X}
	case *ast.AssignStmt:
		calls = n.Rhs
	}
	return slices.ContainsFunc(calls, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && (f.mention(call.Fun) == "internal/testenv.SkipIfShort" ||
			slices.ContainsFunc(s.mentioned(f, call.Fun), func(d *declared) bool { return d.skipsShort }))
	})
}

// inShort calls see with each part of a declaration that may run in short and outside bubbles.
func (s *search) inShort(d *declared, see func(ast.Node)) {
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil, *ast.FuncType: // who makes a value of a type reaches its methods, not who is given one
				return false
			case *ast.BlockStmt:
				for _, each := range n.List {
					walk(each)
					if s.skips(d.in, each) {
						break
					}
				}
				return false
			case *ast.CallExpr:
				if _, name := d.in.selected(n.Fun); name == "Logf" || s.isBubble(d.in, n) {
					walk(n.Fun)
					return false
				}
			case *ast.StarExpr:
				if slices.ContainsFunc(s.mentioned(d.in, n.X), (*declared).isType) {
					return false // a pointer is of no value that is made here
				}
			case *ast.SelectorExpr:
				see(n)
				walk(n.X)
				return false // the other name is none of the package
			}
			see(n)
			return true
		})
	}
	if f, ok := d.node.(*ast.FuncDecl); !ok {
		walk(d.node)
	} else if f.Body != nil {
		walk(f.Body)
	}
}
