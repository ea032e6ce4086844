package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

// FuzzDecode feeds arbitrary bytes to every decoder: none panics, and a record that one
// accepts is encoded to as many bytes as it was read from, and decodes to an equal record. The
// bytes may differ: null may become empty, and true may be any number.
func FuzzDecode(f *testing.F) {
	all := samples()
	kinds := map[reflect.Type]byte{}
	for i, r := range all {
		kinds[reflect.TypeOf(r)] = byte(i)
		f.Add(byte(i), encode(r))
	}
	packets, err := captured.Packets()
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range packets {
		pieces, _, _ := dissect(p)
		for _, piece := range pieces {
			f.Add(kinds[reflect.TypeOf(piece.record)], piece.bytes)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		first := blank(all[int(kind)%len(all)])
		d := NewDecoder(payload)
		first.Decode(&d)
		if d.Err() != nil {
			return
		}
		encoded := encode(first)
		if read := len(payload) - len(d.Rest()); len(encoded) != read {
			t.Errorf("%+v became %d bytes, was %d", first, len(encoded), read)
		}
		second, d := blank(first), NewDecoder(encoded)
		second.Decode(&d)
		if d.Err() != nil || len(d.Rest()) != 0 || !reflect.DeepEqual(first, second) {
			t.Errorf("%+v became %+v (%v)", first, second, d.Err())
		}
	})
}

// Every record of this package is among the samples, and so is fuzzed.
func TestSamplesHaveEveryRecord(t *testing.T) {
	sampled := map[string]bool{}
	for _, r := range samples() {
		sampled[reflect.TypeOf(r).Elem().Name()] = true
	}
	records := recordNames(t)
	for _, name := range records {
		if !sampled[name] {
			t.Errorf("%s is not among the samples", name)
		}
	}
	if len(records) != len(sampled) {
		t.Errorf("%d records, %d sampled", len(records), len(sampled))
	}
}

// recordNames returns the types of this package that have a method Decode.
func recordNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Decode" {
				names = append(names, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	return names
}
