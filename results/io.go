package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteJSON writes the file.
func (f File) WriteJSON(w io.Writer) error { return writeJSON(w, f) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Read reads a file of this schema or an older one. The error is one line.
func Read(r io.Reader) (File, error) {
	var f File
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return File{}, fmt.Errorf("not a result file: %w", err)
	}
	switch {
	case f.Schema == 0:
		return File{}, errors.New("not a result file: it has no schema")
	case f.Schema > Schema:
		return File{}, fmt.Errorf("a result file of schema %d: this stampede reads up to %d; use a newer one", f.Schema, Schema)
	}
	return f, nil
}
