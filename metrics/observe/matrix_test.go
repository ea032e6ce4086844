package observe_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// matrixClients are the numbers of clients in the table of docs/observe-forms.md.
var matrixClients = []int{2, 8, 32}

// TestMatrixIsCurrent compares docs/observe-forms.md with the names under which each form of the
// catalogue is recognised now.
func TestMatrixIsCurrent(t *testing.T) {
	testenv.SkipIfShort(t)
	var b bytes.Buffer
	fmt.Fprint(&b, "# What `stampede observe` recognises\n\n",
		"Each form of the catalogue ran with 2, 8 and 32 clients, all of them at rest between any two steps. The cells are the names\n",
		"under which `stampede observe` recognises the traffic; **HERD** marks a form that it calls a herd. A name that stands for\n",
		"several forms means that their traffic agrees in what was observed: with two clients a release wakes at most one client\n",
		"in any form. A form that avoids the herd is called one in no row, and a test fails if that changes.\n\n",
		"This page is generated: `go test ./metrics/observe -run TestMatrixIsCurrent -update`.\n\n| form | family |")
	for _, n := range matrixClients {
		fmt.Fprintf(&b, " %d clients |", n)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(matrixClients)))
	for _, f := range catalog.Forms() {
		if f.Family == workloads.Load || f.Client == "clientv3" {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", f, f.Family)
		for _, n := range matrixClients {
			_, a := atRest(t, f, n)
			fmt.Fprintf(&b, " %s |", cell(f, a.Report()))
		}
		fmt.Fprintln(&b)
	}
	golden.Compare(t, "../../docs/observe-forms.md", b.Bytes())
}

// cell returns the recognised names that stand for the form. If none does, it returns all names
// that were found, so that a form taken for another one shows in the table.
func cell(f workloads.Form, r observation.Report) string {
	var right, wrong []string
	for _, p := range r.Places {
		if p.Form == nil {
			continue
		}
		name := p.Form.Name
		if p.Form.Herd {
			name = "**HERD** " + name
		}
		if slices.Contains(p.Form.Forms, f.String()) {
			right = append(right, name)
		} else {
			wrong = append(wrong, name)
		}
	}
	switch {
	case len(right) > 0:
		slices.Sort(right)
		return strings.Join(slices.Compact(right), "; ")
	case len(wrong) > 0:
		slices.Sort(wrong)
		return "taken for: " + strings.Join(slices.Compact(wrong), "; ")
	}
	return "unknown"
}
