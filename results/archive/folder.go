package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/internal/argument"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/schema"
)

// suffix is the file name extension of saved results.
const suffix = ".json"

// A Folder is the path of the folder of saved results. The folder need not exist.
type Folder string

// Path returns the path of the result with the id.
func (f Folder) Path(id string) string { return filepath.Join(string(f), id+suffix) }

// Writable returns the reason why results cannot be saved in the folder, or nil. If the folder is
// missing, Writable checks the closest existing parent. It leaves no file behind.
func (f Folder) Writable() error {
	place := filepath.Clean(string(f))
	for {
		_, err := os.Stat(place)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || place == filepath.Dir(place) {
			return err
		}
		place = filepath.Dir(place)
	}
	probe, err := os.CreateTemp(place, ".saving-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Save writes the result with the id into the folder atomically, and creates the folder if it is
// missing. It does not overwrite an existing file.
func (f Folder) Save(id string, r results.Result) error {
	path := f.Path(id)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already", path)
	}
	return Write(path, r)
}

// Write writes the result to the path atomically, replaces an existing file, and creates the folder if
// it is missing. It writes only what [ReadAny] reads again.
func Write(path string, r results.Result) error {
	var text bytes.Buffer
	if err := results.WriteJSON(&text, r); err != nil {
		return err
	}
	if _, err := valid(text.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return Replace(path, text.Bytes())
}

// Replace writes the text to the path atomically: to a temporary file beside it, then by a rename.
func Replace(path string, text []byte) error {
	beside, err := os.CreateTemp(filepath.Dir(path), ".saving-*")
	if err != nil {
		return err
	}
	_, err = beside.Write(text)
	err = errors.Join(err, beside.Chmod(0o644), beside.Sync(), beside.Close())
	if err == nil {
		err = os.Rename(beside.Name(), path)
	}
	if err != nil {
		os.Remove(beside.Name())
	}
	return err
}

// dated matches an id that begins with its start time, as all do that stampede gives.
var dated = regexp.MustCompile(`^\d{8}-`)

// IDs returns the ids of the saved results, the newest first: an id begins with its start time. Files that were given
// another name come last, whenever their results began. What is no file, such as a pipe, is no result. A missing folder has no
// results.
func (f Folder) IDs() ([]string, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && !strings.HasPrefix(id, ".") && f.isFile(e) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y string) int { return cmp.Compare(y, x) })
	undated := slices.DeleteFunc(slices.Clone(ids), dated.MatchString)
	return append(slices.DeleteFunc(ids, func(id string) bool { return !dated.MatchString(id) }), undated...), nil
}

// isFile reports whether the entry is a file, or a link to one. A link to nothing is a result that cannot be read.
func (f Folder) isFile(e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(filepath.Join(string(f), e.Name()))
	return err != nil || info.Mode().IsRegular()
}

// Read reads the saved result of a run, or of a sweep as that of its runs. The error is one line that names
// the path.
func Read(path string) (results.File, error) {
	v, err := ReadAny(path)
	if err != nil {
		return results.File{}, err
	}
	f, err := results.RunsOf(v)
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ReadAny reads a result of any of results.Kinds. The error is one line that names the path.
func ReadAny(path string) (results.Result, error) {
	text, err := argument.ReadFile(path)
	if err != nil {
		return nil, err
	}
	result, err := valid(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return result, nil
}

// valid parses a result, and checks it against the schema of its kind: a file may have been written by hand.
func valid(text []byte) (result results.Result, err error) {
	if result, err = results.ReadAny(bytes.NewReader(text)); err == nil {
		err = schema.Validate(results.KindOf(result), text)
	}
	if f, is := result.(results.File); is && err == nil {
		err = consistent(f)
	}
	return result, err
}

// consistent returns an error if a threshold's verdict is worse than that of the whole file.
func consistent(f results.File) error {
	for _, g := range f.Gates {
		if results.Worst(f.Verdict, g.Verdict) != f.Verdict {
			return fmt.Errorf("not a valid result: the verdict is %s, but that of %s is %s", f.Verdict, g.Text, g.Verdict)
		}
	}
	return nil
}

// Last names the newest result; Last followed by -1 names the one before it, and so on.
const Last = "@"

// Find returns the path of the result with the given name: Last, an id, the unique beginning of an id,
// or a path. The error says what would be valid.
func (f Folder) Find(name string) (string, error) {
	ids, err := f.IDs()
	if err != nil {
		return "", err
	}
	if back, ok := strings.CutPrefix(name, Last); ok {
		return f.back(name, back, ids)
	}
	if slices.Contains(ids, name) {
		return f.Path(name), nil
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	begin := slices.DeleteFunc(ids, func(id string) bool { return name == "" || !strings.HasPrefix(id, name) })
	switch len(begin) {
	case 0:
		return "", fmt.Errorf("%q is no saved result in %s, and no file", name, f)
	case 1:
		return f.Path(begin[0]), nil
	}
	return "", fmt.Errorf("%q begins %d saved results in %s: give more of it", name, len(begin), f)
}

// back returns the path of the result the given number of places before the newest: "" or "-1".
func (f Folder) back(name, back string, ids []string) (string, error) {
	n := 0
	if back != "" {
		var err error
		if n, err = strconv.Atoi(back); err != nil || n > 0 || back[0] != '-' {
			return "", fmt.Errorf("%q: want @ for the last result, @-1 for the one before it", name)
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%s: no result is saved in %s", name, f)
	}
	if n <= -len(ids) {
		return "", fmt.Errorf("%s: the oldest result saved in %s is @%s", name, f, oldest(len(ids)))
	}
	return f.Path(ids[-n]), nil
}

// oldest returns the suffix of Last for the oldest of n results.
func oldest(n int) string {
	if n == 1 {
		return ""
	}
	return strconv.Itoa(1 - n)
}

// An Entry is a saved result with its id.
type Entry struct {
	ID     string
	Result results.Result
}

// ByTime compares the times at which two results began.
func ByTime(x, y Entry) int {
	return results.HeadOf(x.Result).Started.Compare(results.HeadOf(y.Result).Started)
}

// Copies returns the results in their order, each with all that have its id: a file may have been copied.
func Copies(all []Entry) (each [][]Entry) {
	first := map[string]int{}
	for _, e := range all {
		id := results.HeadOf(e.Result).ID
		if i, again := first[id]; again && id != "" {
			each[i] = append(each[i], e)
			continue
		}
		first[id] = len(each)
		each = append(each, []Entry{e})
	}
	return each
}

// WriteLine writes the result as one line of JSON.
func WriteLine(w io.Writer, r results.Result) error {
	var text, line bytes.Buffer
	if err := results.WriteJSON(&text, r); err != nil {
		return err
	}
	if err := json.Compact(&line, text.Bytes()); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := w.Write(line.Bytes())
	return err
}

// ReadLines reads the results of a file that has one result in each line. The error is one line that
// names the path and the number of the line.
func ReadLines(path string) (all []results.Result, err error) {
	text, err := argument.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := valid(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		all = append(all, v)
	}
	return all, nil
}
