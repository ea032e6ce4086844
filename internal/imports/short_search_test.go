package imports

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// unsteady returns what a test of go test -short may do although its outcome depends on real time, on chance or on another
// program: the uses, with their lines, by "folder.function" or "folder.Type.method".
//
// The search begins at each test and goes on to the functions, variables and types that it mentions by name, in its package
// and in packages that only tests import; and from a type to its methods, if they are exported or something calls a
// method of that name. It leaves out what stands in a block behind testenv.SkipIfShort, or behind the call of a function that
// calls it; what stands in "if !testing.Short()"; what is passed to a bubble, whose clock is fake; what is only logged, and kills
// in t.Cleanup. Benchmarks, fuzz targets, examples and TestMain are no tests. A limit of a minute or more decides nothing.
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

// A source is a parsed file: one of tests, or of a package that only tests import.
type source struct {
	folder    string
	tests     bool
	imports   map[string]string // paths by the names that the file uses
	dots      []string          // paths of imports whose names it uses without the package's
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
	called    map[string]bool        // names of methods that something reached calls
	waiting   map[string][]*declared // methods of types that were reached, until something calls a method of that name
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

// parse reads the sources of tests of a module.
func parse(root fs.FS) (*search, error) {
	s := &search{
		named: map[string][]*declared{}, methods: map[string][]*declared{}, constants: map[string]constant{},
		reached: map[*declared]bool{}, called: map[string]bool{}, waiting: map[string][]*declared{},
	}
	var files []*source
	err := eachFile(root, true, func(file string, positions *token.FileSet, parsed *ast.File) {
		folder := path.Dir(file)
		if strings.HasSuffix(parsed.Name.Name, "_test") { // a package of its own
			folder += "_test"
		}
		f := &source{folder: folder, tests: strings.HasSuffix(file, "_test.go"), imports: map[string]string{}, positions: positions, parsed: parsed}
		for _, i := range parsed.Imports {
			to, _ := strconv.Unquote(i.Path.Value)
			name := strings.TrimSuffix(to, "/v2")
			name = path.Base(name)
			if i.Name != nil {
				name = i.Name.Name
			}
			f.imports[name] = to
			if in, ok := strings.CutPrefix(to, module); ok && name == "." {
				f.dots = append(f.dots, in)
			}
		}
		files = append(files, f)
	})
	if err != nil {
		return nil, err
	}
	production := inProduction(files)
	for _, f := range files {
		for _, decl := range f.parsed.Decls {
			s.declare(f, decl, f.tests || !production[f.folder])
		}
	}
	return s, nil
}

// inProduction returns the folders of commands and of what they import.
func inProduction(files []*source) map[string]bool {
	imports, in := map[string][]string{}, map[string]bool{}
	var add func(folder string)
	add = func(folder string) {
		if !in[folder] {
			in[folder] = true
			for _, to := range imports[folder] {
				add(to)
			}
		}
	}
	for _, f := range files {
		for _, to := range f.imports {
			if !f.tests {
				imports[f.folder] = append(imports[f.folder], strings.TrimPrefix(to, module))
			}
		}
	}
	for _, f := range files {
		if f.parsed.Name.Name == "main" && !f.tests {
			add(f.folder)
		}
	}
	return in
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
			of = receiver(decl.Recv.List[0].Type)
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

// receiver returns the name of the type of a method.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// reach follows a declaration that a test mentions.
func (s *search) reach(d *declared) {
	if s.reached[d] {
		return
	}
	s.reached[d] = true
	if d.isType() {
		for _, m := range s.methods[d.key()] {
			if ast.IsExported(m.name) || s.called[m.name] {
				s.reach(m)
			} else {
				s.waiting[m.name] = append(s.waiting[m.name], m)
			}
		}
	}
	s.inShort(d, func(n ast.Node) {
		if selector, ok := n.(*ast.SelectorExpr); ok && !s.called[selector.Sel.Name] {
			s.called[selector.Sel.Name] = true
			for _, m := range s.waiting[selector.Sel.Name] {
				s.reach(m)
			}
		}
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

// mentioned returns what a name in a file stands for; the same name may be declared for several systems.
func (s *search) mentioned(f *source, n ast.Node) []*declared {
	found := s.named[f.mention(n)]
	if id, ok := n.(*ast.Ident); ok {
		if id.Obj != nil && f.parsed.Scope.Objects[id.Name] != id.Obj {
			return nil // a variable or a parameter
		}
		for _, folder := range f.dots {
			found = append(found, s.named[folder+"."+id.Name]...)
		}
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
	case *ast.IfStmt:
		if isShort(n.Cond) && len(n.Body.List) > 0 {
			switch last := n.Body.List[len(n.Body.List)-1].(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				return true
			case *ast.ExprStmt:
				call, ok := last.X.(*ast.CallExpr)
				return ok && strings.HasPrefix(selectedName(call.Fun), "Skip")
			}
		}
	}
	return slices.ContainsFunc(calls, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		key := f.mention(call.Fun)
		return key == "internal/testenv.SkipIfShort" || slices.ContainsFunc(s.mentioned(f, call.Fun), func(d *declared) bool { return d.skipsShort })
	})
}

func selectedName(n ast.Node) string {
	_, name := (&source{}).selected(n)
	return name
}

// isShort reports whether an expression is testing.Short().
func isShort(n ast.Expr) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && selectedName(call.Fun) == "Short"
}

// inShort calls see with each part of a declaration that may run in short and outside bubbles.
func (s *search) inShort(d *declared, see func(ast.Node)) {
	cleaning := false
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil, *ast.FuncType: // who makes a value of a type reaches its methods, not who is given one
				return false
			case *ast.FuncDecl:
				if n.Body != nil {
					walk(n.Body)
				}
				return false
			case *ast.BlockStmt:
				for _, each := range n.List {
					walk(each)
					if s.skips(d.in, each) {
						break
					}
				}
				return false
			case *ast.IfStmt:
				if not, ok := n.Cond.(*ast.UnaryExpr); ok && not.Op == token.NOT && isShort(not.X) {
					if n.Else != nil {
						walk(n.Else)
					}
					return false
				}
			case *ast.CallExpr:
				switch name := selectedName(n.Fun); {
				case s.isBubble(d.in, n) || name == "Logf":
					walk(n.Fun)
					return false
				case name == "Cleanup":
					cleaning = true
					for _, arg := range n.Args {
						walk(arg)
					}
					cleaning = false
					return false
				case name == "Kill" && cleaning: // what has not ended by itself
					return false
				}
			case *ast.StarExpr:
				if named := s.mentioned(d.in, n.X); len(named) > 0 && slices.ContainsFunc(named, (*declared).isType) {
					return false // a pointer is of no value that is made here
				}
			case *ast.SelectorExpr:
				see(n)
				if of, ok := n.X.(*ast.ParenExpr); ok {
					if _, ok := of.X.(*ast.StarExpr); ok { // (*T).method makes no T
						return false
					}
				}
				walk(n.X)
				return false // the other name is none of the package
			case *ast.KeyValueExpr:
				if _, ok := n.Key.(*ast.Ident); ok {
					walk(n.Value) // the name of a field, or of a constant
					return false
				}
			}
			see(n)
			return true
		})
	}
	walk(d.node)
}
