package logfile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// unfinished is the suffix of the name of a file that is still being written.
const unfinished = ".unfinished"

// A Name is the name of one file of a directory.
type Name struct {
	Path  string
	Place int64 // the number in it
}

// PathOf returns the path of the file of a kind with the place.
func PathOf(dir, kind string, place int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%016x", kind, place))
}

// List returns the names of the finished files of a kind, sorted by place.
func List(dir, kind string) ([]Name, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), kind+"-")
		if !ok {
			continue
		}
		if place, err := strconv.ParseInt(digits, 16, 64); err == nil && len(digits) == 16 {
			names = append(names, Name{filepath.Join(dir, e.Name()), place})
		}
	}
	slices.SortFunc(names, func(a, b Name) int { return cmp.Compare(a.Place, b.Place) })
	return names, nil
}

// SizeOf returns the total length of the finished files of a kind in bytes.
func SizeOf(dir, kind string) (size int64, err error) {
	names, err := List(dir, kind)
	for _, n := range names {
		info, e := os.Stat(n.Path)
		if e != nil {
			return 0, e
		}
		size += info.Size()
	}
	return size, err
}
