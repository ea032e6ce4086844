package observation

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/workflow"
)

// A suite is a JUnit report with a case for each threshold.
type suite struct {
	XMLName  xml.Name   `xml:"testsuite"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *message `xml:"failure"`
	Error   *message `xml:"error"`
}

type message struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes a JUnit report with a case for each threshold.
func WriteJUnit(w io.Writer, f results.Observation) error {
	s := suite{Name: "stampede observe", Tests: len(f.Gates)}
	for _, g := range f.Gates {
		c := testCase{Class: "observe", Name: g.Text}
		switch g.Verdict {
		case results.Fail:
			c.Failure = &message{decision(g)}
			s.Failures++
		case results.Invalid:
			c.Error = &message{decision(g)}
			s.Errors++
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// decision says what was measured for a threshold.
func decision(g results.Gate) string {
	if g.Measured == nil {
		return g.Why
	}
	return fmt.Sprintf("measured %s at %s", units.Value(*g.Measured, g.Unit), g.Subject)
}

// WriteGitHub writes an annotation for each threshold that is not met, and a notice with the
// findings.
func WriteGitHub(w io.Writer, f results.Observation) error {
	var b strings.Builder
	for _, g := range f.Gates {
		if g.Verdict != results.Pass {
			b.WriteString(workflow.Command("error", g.Text, string(g.Verdict)+": "+decision(g)))
		}
	}
	b.WriteString(workflow.Command("notice", "stampede observe", strings.Join(Findings(f), "\n")))
	_, err := io.WriteString(w, b.String())
	return err
}
