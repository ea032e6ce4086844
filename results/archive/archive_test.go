package archive_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/resulttest"
	"github.com/stampede-bench/stampede/results/schema"
)

func saved(t *testing.T, ids ...string) archive.Folder {
	t.Helper()
	f := archive.Folder(filepath.Join(t.TempDir(), "of", "runs"))
	for _, id := range ids {
		if err := f.Save(id, withID(id)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func withID(id string) results.File {
	r := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	r.ID = id
	return r
}

func TestSavedIsReadAgain(t *testing.T) {
	f := archive.Folder(filepath.Join(t.TempDir(), "of", "runs"))
	want := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	if err := f.Save(want.ID, want); err != nil {
		t.Fatal(err)
	}
	got, err := archive.Read(f.Path(want.ID))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read something else than was saved (-want +got):\n%s", diff)
	}
	if left, _ := filepath.Glob(string(f) + "/.*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What could not be read again is not saved.
func TestOnlyWhatCanBeReadIsSaved(t *testing.T) {
	f := archive.Folder(filepath.Join(t.TempDir(), "runs"))
	r := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	r.Runs[0].Server = &results.Server{Reads: -1}
	if err := f.Save(r.ID, r); !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), "runs.0.server.reads: ") {
		t.Errorf("saved with %v, want %v that names the field", err, schema.ErrInvalid)
	}
	if left, err := os.ReadDir(string(f)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSaveOverwritesNothing(t *testing.T) {
	f := saved(t, "20261121-lock")
	before, _ := os.ReadFile(f.Path("20261121-lock"))
	other := withID("20261121-lock")
	other.Seed++
	err := f.Save("20261121-lock", other)
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("error %v", err)
	}
	after, _ := os.ReadFile(f.Path("20261121-lock"))
	if string(before) != string(after) {
		t.Errorf("%s is now %s", before, after)
	}
}

func TestSaveWhereNothingCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := archive.Folder(file+"/runs").Save("a", results.New(results.Tool{}, nil, nil, 1)); err == nil {
		t.Error("saved below a file")
	}
}

func TestIDsAreNewestFirst(t *testing.T) {
	f := saved(t, "20261121-b", "main", "20261122-a", "20261120-c")
	for _, other := range []string{"notes.txt", ".saving-1.json"} {
		if err := os.WriteFile(filepath.Join(string(f), other), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(f.Path("20261123-folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(f.Path("20261123-folder"), f.Path("20261123-link")); err != nil {
		t.Fatal(err)
	}
	ids, err := f.IDs()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"20261122-a", "20261121-b", "20261120-c", "main"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestFind(t *testing.T) {
	f := saved(t, "20261121-b", "20261122-a", "20261122-ab")
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"@": f.Path("20261122-ab"), "@-0": f.Path("20261122-ab"), "@-1": f.Path("20261122-a"), "@-2": f.Path("20261121-b"),
		"20261121": f.Path("20261121-b"), "20261122-a": f.Path("20261122-a"), path: path,
	} {
		if got, err := f.Find(name); err != nil || got != want {
			t.Errorf("Find(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestFindSaysWhatIsWrong(t *testing.T) {
	f := saved(t, "20261121-b", "20261122-a", "20261122-ab")
	none := archive.Folder(filepath.Join(t.TempDir(), "none"))
	for _, c := range []struct {
		in         archive.Folder
		name, want string
	}{
		{f, "2026112", `"2026112" begins 3 saved results in FOLDER: give more of it`},
		{f, "2027", `"2027" is no saved result in FOLDER, and no file`},
		{f, "", `"" is no saved result in FOLDER, and no file`},
		{f, "@-3", "@-3: the oldest result saved in FOLDER is @-2"},
		{f, "@1", `"@1": want @ for the last result, @-1 for the one before it`},
		{f, "@+0", `"@+0": want @ for the last result, @-1 for the one before it`},
		{f, "@last", `"@last": want @ for the last result, @-1 for the one before it`},
		{saved(t, "a"), "@-1", "@-1: the oldest result saved in FOLDER is @"},
		{none, "@", "@: no result is saved in FOLDER"},
	} {
		_, err := c.in.Find(c.name)
		if want := strings.ReplaceAll(c.want, "FOLDER", string(c.in)); err == nil || err.Error() != want {
			t.Errorf("Find(%q): %v, want %s", c.name, err, want)
		}
	}
}

// The error for a file of another version, or for a truncated file, names the path.
func TestReadNamesTheFile(t *testing.T) {
	f := saved(t, "a")
	for text, want := range map[string]string{
		`{"schema": 99}`:           "a result file of schema 99: this stampede reads schema 4",
		`{"schema": 1, "runs": [{`: "not a result file: unexpected end of JSON input",
	} {
		if err := os.WriteFile(f.Path("a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Read(f.Path("a")); err == nil || err.Error() != f.Path("a")+": "+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
