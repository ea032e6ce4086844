package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// WriteJSON writes the file.
func (f File) WriteJSON(w io.Writer) error { return WriteJSON(w, f) }

// WriteJSON writes a result of any kind.
func WriteJSON(w io.Writer, v Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Read reads a file with runs of their own, that of a run or a sweep, of this schema or an older
// one. It rejects other kinds: decoded as a File they would look like a run without any runs. The
// error is one line.
func Read(r io.Reader) (File, error) {
	text, err := readSchema(r)
	if err != nil {
		return File{}, err
	}
	kind, err := kindOf(text)
	switch {
	case err != nil:
		return File{}, err
	case kind == KindObservation:
		return File{}, errors.New("the file of an observation: want that of a run")
	case kind != KindRun && kind != KindSweep:
		return File{}, fmt.Errorf("the file of a %s: want that of a run", kind)
	}
	return parse[File](text)
}

// read reads a result of type V, after it checks the schema.
func read[V any](r io.Reader) (V, error) {
	text, err := readSchema(r)
	if err != nil {
		var none V
		return none, err
	}
	return parse[V](text)
}

// parse decodes the text as a V.
func parse[V any](text []byte) (V, error) {
	var v, none V
	if err := json.Unmarshal(text, &v); err != nil {
		return none, fmt.Errorf("not a result file: %w", err)
	}
	return v, nil
}

// readSchema reads a whole file and checks its schema version before the rest is decoded: a file of
// a newer schema may not fit the types of this version.
func readSchema(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read result file: %w", err)
	}
	var version struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("not a result file: %w", err)
	}
	switch {
	case version.Schema < 1:
		return nil, errors.New("not a result file: it has no schema")
	case version.Schema > Schema:
		return nil, fmt.Errorf("a result file of schema %d: this stampede reads up to %d; use a newer one", version.Schema, Schema)
	}
	return CurrentNames(text), nil
}

// CurrentNames replaces "wire", the former name of the lean client, in a result, so that older
// results compare with new ones.
func CurrentNames(text []byte) []byte {
	text = formerClient.ReplaceAll(text, []byte(`"client":"lean"`))
	return formerURL.ReplaceAll(text, []byte("client=lean"))
}

var (
	formerClient = regexp.MustCompile(`"client":\s*"wire"`)
	formerURL    = regexp.MustCompile(`\bclient=wire\b`)
)
