package agents

import (
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// Supports returns an error if the plan cannot be divided among agents.
func Supports(p workloads.Plan) error {
	_, divisible := divided.Of(p.Form, p.Settings)
	switch {
	case !divisible:
		return fmt.Errorf("%s cannot be divided among agents yet", p.Form.Recipe)
	case p.Open.Rate.Open() && p.Open.LateLimit > 0 && p.Form.Recipe == "group":
		return errors.New("--late-limit of a group cannot be divided among agents: the client that takes an arrival is known only if none is skipped")
	case len(p.Faults) > 0:
		return errors.New("faults cannot be injected into the clients of agents yet")
	}
	return nil
}
