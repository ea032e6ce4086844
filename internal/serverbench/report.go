package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A row is one line of a table.
type row struct {
	what string
	comparison
	unit func(float64) string // formats a figure of either side
	goal goal
	of   int // index of the table
}

// verdict returns "yes" or "NO", or "" without a goal. A missed goal is in capitals so that it
// waits out.
func (r row) verdict() string {
	switch {
	case r.goal.met == nil:
		return ""
	case r.goal.met(r.comparison):
		return "yes"
	}
	return "NO"
}

// A table compares two sides.
type table struct {
	left, right string
	rows        []row
}

// A report holds all results.
type report struct {
	server string  // the server that native was compared with
	busy   float64 // load average before the start, NaN where it is not available
	scale  scale
	tables []table
}

func (r report) write(w io.Writer) error {
	var b bytes.Buffer
	host := results.ThisHost()
	each := "one server each"
	if r.scale.ensembles {
		each = "three servers each"
	}
	fmt.Fprintf(&b, "native and %s · %s, fsync · %d × %s · load average %s before\n\n",
		r.server, each, host.Cores, cmp.Or(host.CPU, "unknown processor"), units.Rate(r.busy))
	for _, line := range r.finding() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	widths := r.widths()
	for _, t := range r.tables {
		fmt.Fprintln(&b)
		for _, cells := range t.cells() {
			writeCells(&b, cells, widths)
		}
	}
	r.foot(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// foot explains the figures.
func (r report) foot(w io.Writer) {
	if r.scale.ensembles {
		fmt.Fprintf(w, "\n  ratio: left to right, the median of %d interleaved rounds; %d connections, spread over all members, with %d requests in flight on each\n",
			r.scale.rounds, r.scale.connections, r.scale.outstanding)
		return
	}
	fmt.Fprintf(w, "\n  ratio: left to right, the median of %d interleaved rounds (%d of watched writes, %d of starts);"+
		" memory and the lock were measured once\n", r.scale.rounds, r.scale.changes, r.scale.restarts)
	fmt.Fprintf(w, "  operations per second: %d connections with %d requests in flight on each; ZooKeeper's JVM: %s\n",
		r.scale.connections, r.scale.outstanding, heap)
	fmt.Fprintln(w, "  floor: a server that sends frames of the same size, syncs the same requests, and does nothing else")
	fmt.Fprintln(w, "  bare loop: the lean client without stampede's engine; on etcd its own clientv3")
}

// finding returns the number of goals that are met, and the missed goals.
func (r report) finding() []string {
	var missed []string
	all := 0
	for _, t := range r.tables {
		for _, row := range t.rows {
			if row.verdict() != "" {
				all++
			}
			if row.verdict() == "NO" {
				missed = append(missed, fmt.Sprintf("missed: %s: %s to %s, ratio %s, goal %s", row.what,
					row.unit(row.left), row.unit(row.right), units.Rate(row.ratio), row.goal.words))
			}
		}
	}
	return append([]string{fmt.Sprintf("%d of %d goals are met.", all-len(missed), all)}, missed...)
}

// cells returns the header and the rows.
func (t table) cells() [][]string {
	all := [][]string{{"", t.left, t.right, "ratio", "goal", "met"}}
	for _, r := range t.rows {
		all = append(all, []string{r.what, r.unit(r.left), r.unit(r.right), units.Rate(r.ratio), r.goal.words, r.verdict()})
	}
	return all
}

// widths returns the widths of the columns, which are the same in all tables.
func (r report) widths() []int {
	widths := make([]int, 6)
	for _, t := range r.tables {
		for _, cells := range t.cells() {
			for i, cell := range cells {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	return widths
}

// writeCells aligns figures to the right and words to the left.
func writeCells(w io.Writer, cells []string, widths []int) {
	line := fmt.Sprintf("  %-*s  %*s  %*s  %*s   %-*s  %s", widths[0], cells[0], widths[1], cells[1],
		widths[2], cells[2], widths[3], cells[3], widths[4], cells[4], cells[5])
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}
