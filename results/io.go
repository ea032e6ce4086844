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
	text, err := io.ReadAll(r)
	if err != nil {
		return File{}, fmt.Errorf("read result file: %w", err)
	}
	// The schema first: a newer one may not fit File.
	var version struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return File{}, fmt.Errorf("not a result file: %w", err)
	}
	switch {
	case version.Schema < 1:
		return File{}, errors.New("not a result file: it has no schema")
	case version.Schema > Schema:
		return File{}, fmt.Errorf("a result file of schema %d: this stampede reads up to %d; use a newer one", version.Schema, Schema)
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		return File{}, fmt.Errorf("not a result file: %w", err)
	}
	return f, nil
}
