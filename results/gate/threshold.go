package gate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
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

// selects reports whether the selector matches the row and its run can have the figure.
func (r reference) selects(row Row) bool {
	if !r.selector.matches(row) {
		return false
	}
	f, err := figure.Parse(r.figure.Name, row.Phases)
	return err == nil && f.PossibleIn(row.Plan)
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
		return possible(reference{selector{name: anyRun}, f}, rows)
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
	if f, err = figure.Parse(rest, phases(selected)); err != nil {
		return reference{}, err
	}
	return possible(reference{s, f}, selected)
}

// possible returns the reference, with an error if no run of the rows can have the figure.
func possible(r reference, rows []Row) (reference, error) {
	if !slices.ContainsFunc(rows, r.selects) {
		return r, r.figure.Lacking()
	}
	return r, nil
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

// checkPartners checks that every selected row has exactly one row to be compared with. That a finished run
// has one only under other conditions is no error: the plan did not show it, so that the verdict has to say
// it.
func (t Threshold) checkPartners(rows []Row) error {
	if t.operand.kind != ofRun {
		return nil
	}
	for i, r := range rows {
		if !t.selects(r) {
			continue
		}
		if _, err := t.operand.partner(i, rows); err != nil && !errors.Is(err, errUnlike) {
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

// IsLive reports whether any of the runs that the threshold judges can have its figure while it is in progress.
func (t Threshold) IsLive(rows []Row) bool {
	return slices.ContainsFunc(t.inScenario(rows), func(r Row) bool { return t.selects(r) && t.figure.LiveIn(r.Plan) })
}

// IsUpper reports whether the threshold is an upper limit.
func (t Threshold) IsUpper() bool { return t.op == figure.Below || t.op == figure.AtMost }

// Figure returns the name of the figure that the threshold judges.
func (t Threshold) Figure() string { return t.figure.Name }

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

// errUnlike is the error of a run beside which the other one was measured under other conditions.
var errUnlike = errors.New("is not comparable")

// partner returns the index of the row that the row at index at is compared with: itself, or the
// one beside it. If several rows match, those of the same recipe take precedence.
func (o operand) partner(at int, rows []Row) (int, error) {
	if o.itself {
		return at, nil
	}
	row, unlike := rows[at], ""
	var found, kin []int
	for i, r := range rows {
		level := o.other.selector.clients > 0 || r.Clients == row.Clients
		if !o.other.selects(r) || !level || !r.sharesPlace(row) {
			continue
		}
		if differs := row.unlike(r); differs != "" {
			unlike = fmt.Sprintf("%s/%s: %s", r.Recipe, r.Form, differs)
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
	case len(found) == 0 && unlike != "":
		return 0, fmt.Errorf("beside %v the run of %s %w: %s", row, o.other.selector.name, errUnlike, unlike)
	case len(found) == 0:
		return 0, fmt.Errorf("beside %v there is no run of %s", row, o.other.selector.name)
	case len(found) > 1:
		return 0, fmt.Errorf("beside %v there are %d runs of %s: name one, as RECIPE/FORM@CLIENTS", row, len(found), o.other.selector.name)
	}
	return found[0], nil
}
