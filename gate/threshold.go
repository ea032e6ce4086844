package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/figures"
)

// A Threshold is one thing that is asked of runs.
type Threshold struct {
	Text     string // as it was written
	Scenario string // the one whose runs it is about; "" for all

	reference // whose figure is asked about
	op        figures.Op
	operand   operand
}

// A reference is a figure of some runs.
type reference struct {
	selector selector
	figure   figures.Figure
}

// selects tells whether the row is meant and has the figure.
func (r reference) selects(row Row) bool {
	if !r.selector.matches(row) {
		return false
	}
	_, err := figures.Parse(r.figure.Name, row.Phases)
	return err == nil
}

// Parse reads a threshold that is to be about some of the rows, of the scenario if
// one is named. The error is one line: with the nearest name for one that is not
// known, or that there is no such run.
func Parse(text, scenario string, rows []Row) (Threshold, error) {
	t := Threshold{Text: text, Scenario: scenario}
	rows = t.inScenario(rows)
	left, op, right, err := figures.Split(text)
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

// parseReference reads [SELECTOR.]FIGURE. What is a figure by itself has no
// selector: "fanout.max" is no figure of the workload fanout.
func parseReference(text string, rows []Row) (reference, error) {
	f, err := figures.Parse(text, phases(rows))
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
	selected := s.of(rows)
	if len(selected) == 0 {
		if _, misplaced := figures.Parse(rest, phases(rows)); misplaced == nil || s.clients > 0 {
			err = s.none(rows)
		}
		return reference{}, err
	}
	f, err = figures.Parse(rest, phases(selected))
	return reference{s, f}, err
}

// phases are those of all rows, each once.
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

// checkPartners makes sure that every row has one other to be held against.
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

// ErrNoOpposite is the error of a threshold that holds in one point only.
var ErrNoOpposite = errors.New("has no opposite: want < <= > or >=")

// Opposite is the threshold that is not met where this one is.
func (t Threshold) Opposite() (Threshold, error) {
	if t.op.Not() == "" {
		return t, fmt.Errorf("%q %w", t.Text, ErrNoOpposite)
	}
	left, op, right, err := figures.Split(t.Text)
	t.op, t.Text = op.Not(), left+" "+string(op.Not())+" "+right
	return t, err
}

// IsAbsolute tells whether it needs nothing but the run that it is about.
func (t Threshold) IsAbsolute() bool { return t.operand.kind == ofValue }

// NeedsBaseline tells whether it is held against a baseline.
func (t Threshold) NeedsBaseline() bool { return t.operand.kind == ofBaseline }

// Figure is the name of the figure that it is about.
func (t Threshold) Figure() string { return t.figure.Name }
