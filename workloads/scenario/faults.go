package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Fault is one error in a file.
type Fault struct {
	Line int // from 1
	Text string
}

// Faults holds all errors in a file. It is an error with a line for each.
type Faults struct {
	Name string // of the file
	All  []Fault
}

// most is the number of faults that are reported for one file.
const most = 10

// oneLine writes the line breaks of a value as a reader of YAML would type them.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// Add adds a fault, once: a setting of the whole file would repeat its fault for every scenario.
// A value may have several lines; its fault has one.
func (f *Faults) Add(line int, format string, args ...any) {
	text := oneLine.Replace(fmt.Sprintf(format, args...))
	if fault := (Fault{max(line, 1), text}); !slices.Contains(f.All, fault) {
		f.All = append(f.All, fault)
	}
}

// Err returns the faults as an error, nil if there are none.
func (f *Faults) Err() error {
	if len(f.All) == 0 {
		return nil
	}
	return f
}

// Error returns "FILE:LINE: what is wrong" for each fault, sorted by line.
func (f *Faults) Error() string {
	all := slices.Clone(f.All)
	slices.SortStableFunc(all, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	var lines []string
	for _, fault := range all[:min(len(all), most)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", f.Name, fault.Line, fault.Text))
	}
	if more := len(all) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", f.Name, more))
	}
	return strings.Join(lines, "\n")
}
