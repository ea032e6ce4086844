package agents

import (
	"errors"
	"fmt"
	"slices"

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
	}
	return nil
}

// SupportsLoss returns an error if the plan's run cannot continue without an agent that is lost: if the other clients
// would wait for those of the agent, or if what is missing with it could be taken for a violation.
func SupportsLoss(p workloads.Plan) error {
	if !slices.Contains([]string{"lock", "election", "mix"}, p.Form.Recipe) {
		return fmt.Errorf("%s cannot continue without some of its clients: want a lock, an election or a mix", p.Form.Recipe)
	}
	return nil
}
