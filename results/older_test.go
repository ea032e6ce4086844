package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// Files of older versions, and of every schema, are read as their kind without loss: what was read has
// every value of the file.
func TestOlderFilesAreReadWithoutLoss(t *testing.T) {
	paths, err := filepath.Glob("formats/testdata/old/*.json")
	if err != nil {
		t.Fatal(err)
	}
	schemas, kinds := map[int]bool{}, map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := results.ReadAny(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var again bytes.Buffer
		if err := results.WriteJSON(&again, v); err != nil {
			t.Fatal(err)
		}
		before, after := decoded(t, text), decoded(t, again.Bytes())
		schemas[int(before["schema"].(float64))], kinds[results.KindOf(v)] = true, true
		if lost := lost("", before, after); len(lost) > 0 {
			t.Errorf("%s: lost\n%s", path, strings.Join(lost, "\n"))
		}
	}
	for schema := 1; schema <= results.Schema; schema++ {
		if !schemas[schema] {
			t.Errorf("no file of schema %d was read", schema)
		}
	}
	for _, kind := range results.Kinds() {
		if !kinds[kind] {
			t.Errorf("no older file of kind %s was read", kind)
		}
	}
}

func TestLossIsFound(t *testing.T) {
	before := decoded(t, []byte(`{"a": 1, "b": [{"c": "x"}, {"d": 2}], "none": null, "warnings": ["w"], "client": "wire"}`))
	after := decoded(t, []byte(`{"a": 1, "b": [{"c": "y"}, {}], "warnings": [{"code": "", "text": "w"}], "client": "lean"}`))
	want := ".b[0].c\n.b[1].d"
	if got := strings.Join(lost("", before, after), "\n"); got != want {
		t.Errorf("lost %q, want %q", got, want)
	}
}

// formerWords has the verdicts of today for the words that files had up to schema 2.
var formerWords = map[string]results.Verdict{"better": results.Improvement, "failed": results.Fail, "violated": results.Fail}

// TestFormerVerdictsAreReadAsThoseOfToday checks each word of an older file, in a comparison's verdict,
// a change and a gate, and that a word that is none of them stays.
func TestFormerVerdictsAreReadAsThoseOfToday(t *testing.T) {
	words := maps.Clone(formerWords)
	for _, v := range []results.Verdict{results.Pass, results.Improvement, results.Inconclusive, results.Invalid, results.Regression, results.Fail, "other"} {
		words[string(v)] = v
	}
	for word, want := range words {
		c, err := results.ReadComparison(strings.NewReader(fmt.Sprintf(`{"schema": 2, "kind": "comparison", "verdict": %q, "changes": [{"verdict": %q}]}`, word, word)))
		if err != nil || c.Verdict != want || c.Changes[0].Verdict != want {
			t.Errorf("%s: read %q and %+v (%v), want %q", word, c.Verdict, c.Changes, err, want)
		}
		f, err := results.Read(strings.NewReader(fmt.Sprintf(`{"schema": 1, "verdict": %q, "gates": [{"verdict": %q}]}`, word, word)))
		if err != nil || f.Verdict != want || f.Gates[0].Verdict != want {
			t.Errorf("%s: read %q and %+v (%v), want %q", word, f.Verdict, f.Gates, err, want)
		}
	}
}

func decoded(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(results.CurrentNames(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lost returns the places of the values of one text that another does not have. A value that is the
// same as a missing one may be missing, and the text of a warning may have become an object.
func lost(at string, before, after any) (places []string) {
	switch before := before.(type) {
	case map[string]any:
		object, _ := after.(map[string]any)
		if kind, ok := before["kind"].(string); ok && before["text"] != nil && strings.HasSuffix(fmt.Sprint(object["code"]), kind) {
			object["kind"] = kind // the former name of the code of a doubt
		}
		if word, ok := before["verdict"].(string); ok && formerWords[word] != "" {
			before["verdict"] = string(formerWords[word])
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			places = append(places, lost(at+"."+name, before[name], object[name])...)
		}
		return places
	case []any:
		list, _ := after.([]any)
		for i, value := range before {
			var other any
			if i < len(list) {
				other = list[i]
			}
			places = append(places, lost(fmt.Sprintf("%s[%d]", at, i), value, other)...)
		}
		return places
	case string:
		if object, ok := after.(map[string]any); ok {
			after = object["text"]
		}
		if before == "" && after == nil || before == after {
			return nil
		}
	default:
		if before == after || after == nil && (before == nil || before == false || before == 0.) {
			return nil
		}
	}
	return []string{at}
}
