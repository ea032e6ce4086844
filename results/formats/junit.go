package formats

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/view"
)

// These are the elements of a JUnit report, as Jenkins, GitLab and GitHub's reporters read them.
//
// Note: the types of an existing library write texts as CDATA, in which one control character makes the
// whole file unreadable. These types write character data, which is escaped.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitTotals
		Suites []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitTotals
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitTotals struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    seconds      `xml:"time,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// seconds is a duration in the format of JUnit.
type seconds time.Duration

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', 3, 64), nil
}

func (t *junitTotals) add(o junitTotals) {
	t.Tests, t.Failures, t.Errors, t.Skipped = t.Tests+o.Tests, t.Failures+o.Failures, t.Errors+o.Errors, t.Skipped+o.Skipped
	t.Time += o.Time
}

// writeJUnit writes a suite for each recipe and backend, with a case for each check.
func writeJUnit(w io.Writer, v results.Result, _ Options) error {
	if v, ok := v.(results.Observation); ok {
		return observation.WriteJUnit(w, v)
	}
	p := view.Of(v).Page()
	r := junitReport{Name: p.Heading}
	cases := checks(v)
	if p.Broken != "" || len(cases) == 0 {
		cases = append(cases, check{suite: "stampede", recipe: "stampede", form: "command", name: "completed",
			verdict: results.Invalid, why: cmp.Or(p.Broken, p.Finding[0])})
	}
	suites := map[string]*junitSuite{}
	names := map[string]int{}
	for _, c := range cases {
		s := suites[c.suite]
		if s == nil {
			s = &junitSuite{Name: c.suite, Timestamp: timestamp(v), Properties: properties(v, c.suite)}
			suites[c.suite] = s
			r.Suites = append(r.Suites, s)
		}
		of := c.junit()
		// Readers distinguish cases by their names.
		if names[c.suite+of.Class+of.Name]++; names[c.suite+of.Class+of.Name] > 1 {
			of.Name += fmt.Sprintf(" (%d)", names[c.suite+of.Class+of.Name])
		}
		s.Cases = append(s.Cases, of)
		s.add(of.totals())
	}
	for _, s := range r.Suites {
		r.add(s.junitTotals)
	}
	return writeXML(w, r)
}

func writeXML(w io.Writer, r junitReport) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// junit converts a check to a case. An inconclusive check is skipped. An invalid one is an error, so that
// it is not mistaken for a pass.
func (c check) junit() junitCase {
	of := junitCase{Class: c.recipe + "." + c.form, Name: c.name, Time: seconds(c.took)}
	if c.subject != "" {
		of.Name = c.subject + ": " + c.name
	}
	result := &junitResult{Message: c.text(), Type: string(c.verdict)}
	switch c.verdict {
	case results.Pass, results.Improvement:
	case results.Inconclusive:
		result.Type = ""
		of.Skipped = result
	case results.Invalid:
		of.Error = result
	default:
		result.Text = fmt.Sprintf("%s: %s", c.who(), result.Message)
		of.Failure = result
	}
	return of
}

func (c junitCase) totals() junitTotals {
	count := func(r *junitResult) int {
		if r == nil {
			return 0
		}
		return 1
	}
	return junitTotals{Tests: 1, Failures: count(c.Failure), Errors: count(c.Error), Skipped: count(c.Skipped), Time: c.Time}
}
