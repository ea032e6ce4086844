package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/figure"
)

// A Threshold is one condition that runs must meet.
type Threshold struct {
	Text     string // as written
	Scenario string // the scenario whose runs it applies to; "" for all

	reference // the figure that is judged
	op        figure.Op
	operand   operand
}

// A reference is a figure of the selected runs.
type reference struct {
	selector selector
	figure   figure.Figure
}

// selects reports whether the selector matches the row and the row has the figure.
func (r reference) selects(row Row) bool {
	if !r.selector.matches(row) {
		return false
	}
	_, err := figure.Parse(r.figure.Name, row.Phases)
	return err == nil
}

// Parse parses a threshold that must apply to some of the rows, of the named scenario if there is
// one. The error is one line. It suggests the nearest name for an unknown one, or says that there
// is no such run.
func Parse(text, scenario string, rows []Row) (Threshold, error) {
	t := Threshold{Text: text, Scenario: scenario}
	rows = t.inScenario(rows)
	left, op, right, err := figure.Split(text)
	if err != nil {
		return t, err
	}
	if t.reference, err = parseReference(left, rows); err != nil {
		return t, fmt.Errorf("%q: %w", text, err)
	}
	t.op = op
	if t.operand, err = parseOperand(right, t.figure, rows); err == nil {
		err = t.checkPartners(rows)
	}
	if err != nil {
		return t, fmt.Errorf("%q: %w", text, err)
	}
	return t, nil
}

func (t Threshold) inScenario(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return t.Scenario != "" && r.Scenario != t.Scenario })
}

// parseReference parses [SELECTOR.]METRIC. Text that is a figure has no selector: "fanout.max" is
// not a figure of the workload fanout.
func parseReference(text string, rows []Row) (reference, error) {
	f, err := figure.Parse(text, phases(rows))
	if err == nil {
		return reference{selector{name: anyRun}, f}, nil
	}
	head, rest, dotted := strings.Cut(text, ".")
	if !dotted {
		return reference{}, err
	}
	s, wrong := parseSelector(head)
	if wrong != nil {
		return reference{}, wrong
	}
	selected := s.selectRows(rows)
	if len(selected) == 0 {
		if _, misplaced := figure.Parse(rest, phases(rows)); misplaced == nil || s.clients > 0 {
			err = s.none(rows)
		}
		return reference{}, err
	}
	f, err = figure.Parse(rest, phases(selected))
	return reference{s, f}, err
}

// phases returns the distinct phases of all rows.
func phases(rows []Row) (all []string) {
	for _, r := range rows {
		for _, p := range r.Phases {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// checkPartners checks that every selected row has exactly one row to be compared with.
func (t Threshold) checkPartners(rows []Row) error {
	if t.operand.kind != ofRun {
		return nil
	}
	for i, r := range rows {
		if !t.selects(r) {
			continue
		}
		if _, err := t.operand.partner(i, rows); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoOpposite is the error of a threshold with ==, which has no opposite.
var ErrNoOpposite = errors.New("has no opposite: want < <= > or >=")

// Opposite returns the threshold that is met if and only if this one is not.
func (t Threshold) Opposite() (Threshold, error) {
	if t.op.Not() == "" {
		return t, fmt.Errorf("%q %w", t.Text, ErrNoOpposite)
	}
	left, op, right, err := figure.Split(t.Text)
	t.op, t.Text = op.Not(), left+" "+string(op.Not())+" "+right
	return t, err
}

// IsAbsolute reports whether the threshold needs only the run that it judges.
func (t Threshold) IsAbsolute() bool { return t.operand.kind == ofValue }

// NeedsBaseline reports whether the threshold compares with a baseline.
func (t Threshold) NeedsBaseline() bool { return t.operand.kind == ofBaseline }

// Figure returns the name of the figure that the threshold judges.
func (t Threshold) Figure() string { return t.figure.Name }
