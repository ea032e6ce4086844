package archive

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

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
