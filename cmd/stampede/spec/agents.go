package spec

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/workloads/agents"
)

// Agents holds the flags that divide the clients of each run among agents.
type Agents struct {
	Count   int    // 0: this process has all clients
	Control string // URL of the control plane; "": this process runs one
	Listen  string // HOST:PORT of what this process runs for the agents
	OnLoss  string // what a run does that loses an agent: End or Continue
}

// What a run does that loses an agent.
const (
	End      = "end"
	Continue = "continue"
)

func lossOutcomes() []string { return []string{End, Continue} }

// AgentFlags lists the flags of Agents.
func AgentFlags() []string { return []string{"agents", "control", "control-listen", "on-agent-loss"} }

// Register adds the flags.
func (a *Agents) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&a.Count, "agents", 0, "number of agents (stampede agent) among which the clients of each run are divided (default: this process has all of them)")
	flags.StringVar(&a.Control, "control", "", "`URL` of a running service for the coordination with the agents, such as etcd://host:2379/bench (default: an etcd member in this process)")
	flags.StringVar(&a.Listen, "control-listen", "127.0.0.1:0", "`HOST:PORT` of this machine by which agents reach this process, over TCP and UDP; port 0 is any that is free")
	flags.StringVar(&a.OnLoss, "on-agent-loss", End, "what a run does that loses an agent: end with what was measured until then, or continue without that agent's clients")
	cli.Complete(cmd, "on-agent-loss", lossOutcomes)
}

func (a *Agents) check() error {
	switch {
	case !slices.Contains(lossOutcomes(), a.OnLoss):
		return cli.OfFlag("on-agent-loss", suggest.Unknown("choice for --on-agent-loss", a.OnLoss, lossOutcomes()))
	case a.Count < 0:
		return cli.Flagf("agents", "%d: must be positive", a.Count)
	case a.Count == 0 && a.Control != "":
		return cli.Flagf("control", "is for runs with --agents")
	case a.Count == 0 && a.OnLoss != End:
		return cli.Flagf("on-agent-loss", "is for runs with --agents")
	}
	return nil
}

// CheckAgents returns an error if runs of the jobs cannot be divided as f says.
func (f *Flags) CheckAgents(jobs []Job) error {
	switch {
	case f.Agents.Count == 0:
		return nil
	case f.Listen != "":
		return cli.Flagf(ListenFlag, "shows what this process runs, not what its agents do: leave it out with --agents")
	case f.MetricsAddr != "":
		return cli.Flagf(MetricsFlag, "shows what this process runs, not what its agents do: leave it out with --agents")
	}
	for _, j := range jobs {
		for _, form := range j.Chosen {
			p := j.Flags.draft(form.Form, 1)
			if err := agents.Supports(p); err != nil {
				return cli.Flagf("agents", ": %w", err)
			}
			if f.Agents.OnLoss != Continue {
				continue
			}
			if p.Rounds > 0 {
				return cli.Flagf("on-agent-loss", "%s: --rounds counts the rounds of all agents, also of a lost one: use --duration", Continue)
			}
			if err := agents.SupportsLoss(p); err != nil {
				return cli.Flagf("on-agent-loss", "%s: %w", Continue, err)
			}
		}
	}
	return nil
}
