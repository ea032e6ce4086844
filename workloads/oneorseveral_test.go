package workloads_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/exchange"
)

// allowed are the conditions that the test below would refuse, each by its file and its text, and why it is
// right.
var allowed = map[string]string{
	"agents/journal/journal.go: len(m.Parts) > 0": "a message to a server has parts here: those of a multi",
	"agents/merge/histogram.go: part == nil":      "a part is a histogram here, of a phase without times",
	"recipetest/suite.go: form.Alone()":           "a form under test may need a service of its own",
}

// What asks whether a run has one part or several: comparisons with nil of what only one of the two would
// have, comparisons of how many there are with a number, types, and methods.
var (
	thing   = regexp.MustCompile(`(?i)^(parts?|own|sites?|exchanges?|runexchange|others?|elsewhere|divided|shares?|post|receive|tell|board|outbox|link)$`)
	count   = regexp.MustCompile(`(?i)^(of|processes|process|parts|shares|agents|others)$`)
	kind    = regexp.MustCompile(`^(Part|Exchange|RunExchange|Place|outbox)$`)
	inquiry = regexp.MustCompile(`^(Others|(Is|Has|Are)?(Alone|Divided|Shared|Single|Several|Many|Whole|Distributed))$`)
)

// name returns the last name of a variable, a field or a call, and whether it is a count of things: len, or a
// field.
func name(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.StarExpr:
		return name(x.X)
	case *ast.ParenExpr:
		return name(x.X)
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.Ident); ok && f.Name == "len" && len(x.Args) == 1 {
			return name(x.Args[0])
		}
		return name(x.Fun)
	case *ast.BinaryExpr:
		return name(x.X)
	}
	return ""
}

// isOne reports whether the expression is the number by which one and several are told apart.
func isOne(x ast.Expr) bool {
	b, ok := x.(*ast.BasicLit)
	return ok && b.Kind == token.INT && slices.Contains([]string{"0", "1", "2"}, b.Value)
}

// asks returns the text of each expression of a file that asks whether a run has one part or several.
func asks(source string, f *ast.File) (found []string) {
	base := f.FileStart
	report := func(n ast.Node) { found = append(found, source[n.Pos()-base:n.End()-base]) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if !slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ}, n.Op) {
				return true
			}
			for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
				if name(pair[1]) == "nil" && thing.MatchString(name(pair[0])) || isOne(pair[1]) && count.MatchString(name(pair[0])) {
					report(n)
				}
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && (thing.MatchString(name(n.Tag)) || count.MatchString(name(n.Tag))) {
				report(n.Tag)
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil && kind.MatchString(name(n.Type)) {
				report(n)
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				if s, ok := x.(*ast.StarExpr); ok && kind.MatchString(name(s)) {
					report(x)
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 && inquiry.MatchString(s.Sel.Name) {
				report(n)
			}
		}
		return true
	})
	return found
}

// parse returns the text and the syntax of a file.
func parse(path, source string) (string, *ast.File, error) {
	if source == "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", nil, err
		}
		source = string(text)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	return source, f, err
}

// TestNothingAsksWhetherARunHasOnePart holds that a run in one process takes the paths of one in several: no
// code of the workloads or of the agents asks which of the two it is in, apart from the conditions that are
// allowed.
func TestNothingAsksWhetherARunHasOnePart(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, f, err := parse(path, "")
		if err != nil {
			return err
		}
		for _, text := range asks(source, f) {
			key := filepath.ToSlash(path) + ": " + text
			if used[key] = true; allowed[key] == "" {
				t.Errorf("%s asks whether a run has one part or several", key)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range allowed {
		if !used[key] {
			t.Errorf("%s is allowed, and nothing asks it", key)
		}
	}
}

// TestAPartDoesNotSayWhetherItIsTheOnlyOne has no flag in what a run knows of its part: what differs between
// one process and several are its functions, which are always set.
func TestAPartDoesNotSayWhetherItIsTheOnlyOne(t *testing.T) {
	part := reflect.ValueOf(*workloads.NewPart(exchange.Everywhere(), "/base"))
	for i := range part.NumField() {
		field := part.Type().Field(i)
		if field.Type.Kind() == reflect.Bool || field.Type.Kind() == reflect.Func && part.Field(i).IsNil() {
			t.Errorf("%s is a flag, or not set", field.Name)
		}
	}
}

// TestQuestionsAreFound plants one question of each kind.
func TestQuestionsAreFound(t *testing.T) {
	for _, question := range []string{
		"p.Part == nil", "nil != r.plan.Part", "w.exchange != nil", "x == nil || e.Exchange == nil", "c.part.Processes > 1", "1 < len(a.Shares)",
		"w.exchange.Others() > 0", "p.part.Processes-1 > 0", "run.IsDivided()", "len(parts) == 1",
	} {
		_, f, err := parse("planted.go", "package p\n\nfunc f() { if "+question+" { g() } }\n")
		if err != nil {
			t.Fatal(err)
		}
		if len(asks("package p\n\nfunc f() { if "+question+" { g() } }\n", f)) == 0 {
			t.Errorf("%s is not found", question)
		}
	}
	for _, body := range []string{"switch x.(type) { case *exchange.Exchange: }", "_, ok := x.(*Part); _ = ok", "switch p.Processes { case 1: }"} {
		source := "package p\n\nfunc f() { " + body + " }\n"
		_, f, err := parse("planted.go", source)
		if err != nil {
			t.Fatal(err)
		}
		if len(asks(source, f)) == 0 {
			t.Errorf("%s is not found", body)
		}
	}
	source := "package p\n\nfunc f() { if err != nil || n > 1 { g(x.Processes-1) } }\n"
	if _, f, err := parse("planted.go", source); err != nil || len(asks(source, f)) > 0 {
		t.Errorf("found %q, %v in code that asks nothing", asks(source, f), err)
	}
}
