package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// uses returns what is unsteady in a declaration.
func (s *search) uses(d *declared) map[string]bool {
	found := map[string]bool{}
	s.inShort(d, func(n ast.Node) {
		what := ""
		switch n := n.(type) {
		case *ast.CallExpr:
			if what = s.use(d.in, n); what == "" {
				what = flag(d.in, n.Args)
			}
		case *ast.CompositeLit:
			if what = s.window(d.in, n); what == "" {
				what = flag(d.in, n.Elts)
			}
		case *ast.BasicLit:
			what = flag(d.in, []ast.Expr{n})
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				_, field := d.in.selected(to)
				if len(n.Lhs) == len(n.Rhs) && d.in.imports["workloads"] != "" && s.lasts(d.in, field, n.Rhs[i]) {
					what = field
				}
			}
		}
		if what != "" {
			at := d.in.positions.Position(n.Pos())
			found[fmt.Sprintf("%s (%s:%d)", what, path.Base(at.Filename), at.Line)] = true
		}
	})
	return found
}

// lasts reports whether a field of a plan or of a session's options is given a time that is not a limit.
func (s *search) lasts(f *source, field string, value ast.Expr) bool {
	return slices.Contains([]string{"Duration", "Warmup", "SessionTimeout"}, field) && !s.long(f, value)
}

// window names such a field of a plan or of options.
func (s *search) window(f *source, of *ast.CompositeLit) string {
	if _, name := f.selected(of.Type); name != "Plan" && name != "Options" {
		return ""
	}
	for _, e := range of.Elts {
		if e, ok := e.(*ast.KeyValueExpr); ok && s.lasts(f, fmt.Sprint(e.Key), e.Value) {
			return fmt.Sprint(e.Key)
		}
	}
	return ""
}

// flag returns the flag of a command that lets a run last a time, among words that stand in one list or in one text.
func flag(f *source, words []ast.Expr) string {
	if f.folder != "cmd/stampede" { // only there commands are run
		return ""
	}
	var text []string
	for _, w := range words {
		if w, ok := w.(*ast.BasicLit); ok && w.Kind == token.STRING {
			word, _ := strconv.Unquote(w.Value)
			text = append(text, word)
		}
	}
	return strings.TrimSpace(timed.FindString(strings.Join(text, " ")))
}

// random are the functions of math/rand that take or make a source, which has a seed unless it is of the time.
var random = []string{"New", "NewChaCha8", "NewPCG", "NewSource", "NewZipf"}

// use names what is unsteady in a call, if anything is.
func (s *search) use(f *source, call *ast.CallExpr) string {
	pkg, name := f.selected(call.Fun)
	called := path.Base(strings.TrimSuffix(pkg, "/v2")) + "." + name
	switch called {
	case "time.Sleep", "time.Tick", "time.NewTicker", "time.Since", "time.Until", "drivers.Pause", "cluster.Start",
		"backendtest.EachOwn", "backendtest.ZooKeeper", "backendtest.SecureZooKeeper", "backendtest.SecureEtcd":
		return called
	case "backendtest.Own", "backendtest.Divisible":
		if url, ok := call.Args[1].(*ast.BasicLit); !ok || !strings.HasPrefix(url.Value, `"native:`) || strings.Contains(url.Value, "servers=") {
			return called
		}
	case "syscall.Kill":
		if zero, ok := call.Args[1].(*ast.BasicLit); !ok || zero.Value != "0" { // which asks only whether there is a process
			return called
		}
	case "time.After", "time.NewTimer", "time.AfterFunc":
		if !s.long(f, call.Args[0]) {
			return called
		}
	case "context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause":
		if !s.long(f, call.Args[1]) {
			return called
		}
	case "exec.Command", "exec.CommandContext":
		if program := call.Args[strings.Count(name, "Context")]; !isProduct(f, program) {
			return called
		}
	}
	switch {
	case pkg == "math/rand" || pkg == "math/rand/v2":
		if !slices.Contains(random, name) {
			return called
		}
		for _, arg := range call.Args {
			if hasNow(f, arg) {
				return called + " of the time"
			}
		}
	case pkg != "":
	case name == "Kill" || name == "Signal":
		return name
	case name == "SetDeadline" || name == "SetReadDeadline" || name == "SetWriteDeadline":
		if len(call.Args) == 1 && !s.long(f, call.Args[0]) {
			return name
		}
	case name == "Before" || name == "After" || name == "Sub" || name == "Compare":
		if hasNow(f, call) {
			return "time.Now()." + name
		}
	}
	return ""
}

// isProduct reports whether a program is go, or the binary of the test, which is the product in another role.
func isProduct(f *source, program ast.Expr) bool {
	switch program := program.(type) {
	case *ast.BasicLit:
		return slices.Contains([]string{`"go"`, `"stampede"`, `"sh"`}, program.Value)
	case *ast.IndexExpr:
		pkg, name := f.selected(program.X)
		return pkg == "os" && name == "Args"
	}
	return false
}

// hasNow reports whether an expression has the present time.
func hasNow(f *source, in ast.Expr) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		pkg, name := f.selected(n)
		found = found || pkg == "time" && name == "Now"
		return !found
	})
	return found
}

// long reports whether a time is one that only a defect reaches, as it is written in minutes or hours, here or in a constant
// that it names; or no time, or one of long ago.
func (s *search) long(f *source, limit ast.Expr) (found bool) {
	ast.Inspect(limit, func(n ast.Node) bool {
		pkg, name := f.selected(n)
		found = found || pkg == "time" && slices.Contains([]string{"Minute", "Hour", "Unix"}, name)
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = found || len(n.Elts) == 0
		case *ast.BasicLit:
			found = found || n.Value == "0"
		}
		if c, ok := s.constants[f.mention(n)]; ok {
			found = found || s.long(c.in, c.value)
		}
		return !found
	})
	return found
}

// unsteadyScripts returns the lines of the command's scripts that do the same before "[short] skip" or "[short] stop": they
// wait, let a run last a time, or start servers or other programs. A line whose command only plans, completes or is refused does not run for it.
func unsteadyScripts(root fs.FS) (map[string][]string, error) {
	names, err := fs.Glob(root, "cmd/stampede/testdata/script/*.txtar")
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "-- ") || short.MatchString(line) {
				break // files follow, or what is long
			}
			if use := timed.FindString(line); use != "" && !unmeasured.MatchString(line) {
				found[name] = append(found[name], fmt.Sprintf("%s (%d)", strings.TrimSpace(use), i+1))
			}
		}
	}
	return found, nil
}

var (
	short      = regexp.MustCompile(`^\[short\] *(skip|stop)`)
	timed      = regexp.MustCompile(`\bsleep |--(duration|warmup|for)[ =]([1-9]\S*s|0\.\S+)( |$)|--backend (zookeeper:( |$)|\S*servers=)|\[exec:\w+\]`)
	unmeasured = regexp.MustCompile(`^(! exec|exits 2) | --dry-run| __complete | help |^(stdout|stderr|grep|cmp|#)`)
)
