package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// Parse parses one fault, such as "at=10s kill leader, restart after=5s". The error is one line
// that names the valid choice.
func Parse(text string) (Fault, error) {
	var f Fault
	for i, part := range strings.Split(text, ",") {
		c := clause{words: strings.Fields(part)}
		var err error
		if i == 0 {
			err = f.first(&c)
		} else {
			err = f.next(&c)
		}
		if err == nil {
			err = c.rest()
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	return f, nil
}

// first parses the first step with its time and target.
func (f *Fault) first(c *clause) (err error) {
	if f.At, err = c.duration("at", true); err != nil {
		return err
	}
	step, err := c.step()
	if err != nil {
		return err
	}
	d, _ := find(step.Verb)
	if f.Target, err = c.target(d); err != nil {
		return err
	}
	f.Steps = []Step{step}
	if !c.has("for") {
		return nil
	}
	if d.undone == "" {
		return fmt.Errorf("%s takes no for=: it is over at once", d.verb)
	}
	undo := Step{Verb: d.undone}
	undo.After, err = c.duration("for", false)
	f.Steps = append(f.Steps, undo)
	return err
}

// next parses a later step on the same target.
func (f *Fault) next(c *clause) (err error) {
	after, err := c.duration("after", false)
	if err != nil {
		return err
	}
	step, err := c.step()
	if err != nil {
		return err
	}
	if d, _ := find(step.Verb); !d.suits(f.Target) {
		return fmt.Errorf("%s does not apply to %s", step.Verb, f.Target)
	}
	step.After = after
	f.Steps = append(f.Steps, step)
	return nil
}

// A clause is the part of a fault between two commas.
type clause struct{ words []string }

func (c *clause) has(key string) bool { return c.index(key) >= 0 }

func (c *clause) index(key string) int {
	return slices.IndexFunc(c.words, func(w string) bool { return strings.HasPrefix(w, key+"=") })
}

// take removes a key with its value.
func (c *clause) take(key string) string {
	i := c.index(key)
	value := c.words[i][len(key)+1:]
	c.words = slices.Delete(slices.Clone(c.words), i, i+1)
	return value
}

func (c *clause) duration(key string, zero bool) (time.Duration, error) {
	if !c.has(key) {
		return 0, fmt.Errorf("%s is missing, such as %s=10s", key, key)
	}
	value := c.take(key)
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d == 0 && !zero {
		return 0, fmt.Errorf("%s=%s: want a duration such as 10s", key, value)
	}
	return d, nil
}

// step parses a verb with its parameter.
func (c *clause) step() (s Step, err error) {
	if len(c.words) == 0 {
		return Step{}, fmt.Errorf("no verb: want one of %s", strings.Join(verbNames(), ", "))
	}
	d, known := find(Verb(c.words[0]))
	if !known {
		return Step{}, suggest.Unknown("verb", c.words[0], verbNames())
	}
	c.words = c.words[1:]
	if s.Verb = d.verb; d.takes == "" {
		return s, nil
	}
	if !c.has(d.takes) && d.takes != reply {
		return Step{}, fmt.Errorf("%s: %s is missing, such as %s", d.verb, d.takes, map[string]string{by: "by=50ms", to: "to=64k"}[d.takes])
	}
	switch d.takes {
	case by:
		s.By, err = c.duration(by, false)
	case to:
		s.To, err = parseBytes(c.take(to))
	case reply:
		name := "create"
		if c.has(reply) {
			name = c.take(reply)
		}
		op, known := lossy[name]
		if s.Reply = op; !known {
			err = suggest.Unknown("reply", name, slices.Sorted(maps.Keys(lossy)))
		}
	}
	return s, err
}

// target parses the target, which must suit the verb.
func (c *clause) target(d verbRow) (Target, error) {
	if len(c.words) == 0 || strings.HasPrefix(c.words[0], "for=") {
		return Target{}, errors.New("no target: want leader, follower, member=1, members=all, holder, client=1, clients=25% or clients=all")
	}
	w, err := parseTarget(c.words[0])
	if err != nil {
		return Target{}, err
	}
	c.words = c.words[1:]
	if !d.suits(w) {
		return Target{}, fmt.Errorf("%s does not apply to %s", d.verb, w)
	}
	return w, nil
}

func (c *clause) rest() error {
	if len(c.words) > 0 {
		return fmt.Errorf("unexpected %q", strings.Join(c.words, " "))
	}
	return nil
}

// parseBytes parses a rate such as "64k".
func parseBytes(text string) (int64, error) {
	number, size := text, int64(1)
	for _, u := range units {
		if cut, ok := strings.CutSuffix(text, u.name); ok {
			number, size = cut, u.size
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("to=%s: want bytes a second such as 64k", text)
	}
	return n * size, nil
}
