package gate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results/figure"
)

// A kind is the kind of an operand.
type kind int

const (
	ofValue    kind = iota // a value
	ofRun                  // a figure of another run, or another figure of the same run
	ofBaseline             // the same figure of the baseline
)

// baselineWord stands for the baseline in a threshold.
const baselineWord = "baseline"

// An operand determines the limit of a threshold.
type operand struct {
	kind   kind
	value  float64 // the limit, or a factor of the figure
	other  reference
	itself bool // other is of the same run
}

// parseOperand parses "50ms", "0.5 * one-node.handoff.p99" or "1.2 * baseline".
func parseOperand(text string, f figure.Figure, rows []Row) (operand, error) {
	factor, of, multiplied := strings.Cut(text, "*")
	o := operand{kind: ofRun, value: 1}
	if multiplied {
		v, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
		if err != nil || !(v > 0) || v > mostFactor {
			return o, fmt.Errorf("%q is no factor: want NUMBER * METRIC, or NUMBER * baseline", strings.TrimSpace(factor))
		}
		o.value, text = v, strings.TrimSpace(of)
	}
	if text == baselineWord {
		o.kind = ofBaseline
		return o, nil
	}
	if !multiplied && !startsName(text) {
		v, err := f.ParseValue(text)
		return operand{kind: ofValue, value: v}, err
	}
	var err error
	if o.other, err = parseReference(text, rows); err != nil {
		if suggest.Name(text, []string{baselineWord}) != "" {
			err = suggest.Unknown("operand", text, []string{baselineWord})
		}
		return o, err
	}
	if o.other.figure.Unit != f.Unit {
		return o, fmt.Errorf("%s and %s are of different kinds and have no ratio", f.Name, o.other.figure.Name)
	}
	o.itself = o.other.selector == selector{name: anyRun}
	return o, nil
}

// mostFactor exceeds any ratio of two figures of the same unit.
const mostFactor = 1e12

// startsName reports whether the text is a name rather than a value.
func startsName(text string) bool {
	return text != "" && !strings.ContainsRune("0123456789.+-", rune(text[0]))
}

// partner returns the index of the row that the row at index at is compared with: itself, or the
// one beside it. If several rows match, those of the same recipe take precedence.
func (o operand) partner(at int, rows []Row) (int, error) {
	if o.itself {
		return at, nil
	}
	row := rows[at]
	var found, kin []int
	for i, r := range rows {
		level := o.other.selector.clients > 0 || r.Clients == row.Clients
		if !o.other.selects(r) || !level || !r.differsInSubjectOnly(row) {
			continue
		}
		if found = append(found, i); r.Recipe == row.Recipe {
			kin = append(kin, i)
		}
	}
	if len(kin) > 0 {
		found = kin
	}
	switch {
	case len(found) == 0:
		return 0, fmt.Errorf("beside %v there is no run of %s", row, o.other.selector.name)
	case len(found) > 1:
		return 0, fmt.Errorf("beside %v there are %d runs of %s: name one, as RECIPE/FORM@CLIENTS", row, len(found), o.other.selector.name)
	}
	return found[0], nil
}
