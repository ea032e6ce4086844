package control

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
)

// TestSecrets writes a secret and a document, of which only the latter is found in the member's files.
func TestSecrets(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	m := start(t)
	writer, reader := connect(t, m), connect(t, m)
	if err := errors.Join(writer.PutSecret(t.Context(), "s", "hunter2"), writer.PutJSON(t.Context(), "d", "document2")); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := reader.GetSecret(t.Context(), "s", &got); err != nil || got != "hunter2" {
		t.Errorf("got %q, %v", got, err)
	}
	if inFiles(t, tmp, "hunter2") || !inFiles(t, tmp, "document2") {
		t.Error("the secret is in the member's files, or the document is not")
	}
	other := *reader
	otherToken := m.Token()
	otherToken.password[0]++
	other.service = protected{nil, otherToken}
	if err := other.GetSecret(t.Context(), "s", &got); err == nil {
		t.Error("another token reads the secret")
	}
	if err := reader.GetSecret(t.Context(), "d", &got); err == nil {
		t.Error("a document that is no secret is read as one")
	}
}

// inFiles reports whether a file in the directory has the text.
func inFiles(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAServiceKeepsNoSecrets(t *testing.T) {
	p, err := Connect(t.Context(), backendtest.InProcess(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.PutSecret(t.Context(), "s", "hunter2"); !errors.Is(err, ErrUnprotected) || p.Protected() {
		t.Errorf("got %v, protected: %v", err, p.Protected())
	}
	if err := p.GetSecret(t.Context(), "s", new(string)); !errors.Is(err, ErrUnprotected) {
		t.Errorf("got %v", err)
	}
}
