package spec

import (
	"github.com/spf13/cobra"
	"slices"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/systems"
)

// A Selection holds the flags that run and count share.
type Selection struct {
	Targets
	Form        []string
	Clients     []int
	Readers     int
	Consistency string
	maxSessions int
	further     int  // sessions besides those of the clients
	elsewhere   bool // agents have the sessions, whose machines may allow more of them than this one
	Quiet       bool
	DryRun      bool // print the plan and end
}

const dryRun = "dry-run"

// Register adds the flags to a command, with these default backends and numbers of clients.
func (c *Selection) Register(forms []workloads.Form, cmd *cobra.Command, backend []string, clients []int) {
	cmd.Flags().IntSliceVarP(&c.Clients, "clients", "c", clients, "numbers of clients, measured one after the other")
	c.RegisterOthers(forms, cmd, backend)
}

// RegisterOthers registers all flags but --clients.
func (c *Selection) RegisterOthers(forms []workloads.Form, cmd *cobra.Command, backend []string) {
	c.Targets.Register(cmd, backend)
	flags := cmd.Flags()
	flags.StringSliceVar(&c.Form, "form", nil, "forms by name, by a system that uses it (stampede list --systems), by family (recipe, naive, library), or all (default: the herd-avoiding form and its naive twin)")
	flags.IntVar(&c.Readers, "readers", workloads.DefaultReaders, "readers of a shared lock per writer")
	flags.StringVar(&c.Consistency, "consistency", "", "what reads show at least, if the URL does not say it: local or sync (ZooKeeper, native), linearizable or serializable (etcd)")
	flags.IntVar(&c.maxSessions, "max-sessions", maxSessions, "most sessions on a service that is given by its address")
	flags.BoolVarP(&c.Quiet, "quiet", "q", false, "print neither plan nor progress on standard error")
	flags.BoolVar(&c.DryRun, dryRun, false, "print what the command would do to each service, and start, connect to and save nothing")
	cli.Complete(cmd, "form", func() []string { return formWords(forms) })
	cli.Complete(cmd, "consistency", backends.Consistencies)
}

// Resolve checks everything that can be checked before anything is started.
func (c *Selection) Resolve(forms []workloads.Form, recipes []string) ([]catalog.Choice, []Source, error) {
	recipes, err := catalog.SelectRecipes(forms, recipes)
	if err != nil {
		return nil, nil, cli.OfFlag("recipe", err)
	}
	chosen, err := catalog.Select(forms, recipes, c.Form)
	if err != nil {
		return nil, nil, cli.OfFlag("form", err)
	}
	if err := checkClients(c.Clients); err != nil {
		return nil, nil, err
	}
	if c.Readers < 1 {
		return nil, nil, cli.Flagf("readers", "%d: must be at least 1", c.Readers)
	}
	sources, err := c.Targets.Resolve(c.Consistency)
	if err != nil {
		return nil, nil, err
	}
	return chosen, sources, c.checkSessions(sources, chosen)
}

func formWords(forms []workloads.Form) []string {
	words := []string{catalog.All}
	for _, f := range workloads.Families() {
		words = append(words, string(f))
	}
	for _, f := range forms {
		words = append(words, f.Name+"\t"+f.Summary)
	}
	for _, s := range systems.All() {
		words = append(words, s.Name+"\t"+s.Product)
	}
	return words
}

// checkGroups checks that all groups can have the same size, so that they measure the same thing. An outage is one of
// the service: it hits all clients, and the attempts of all count in its busiest second.
func checkGroups(groups int, levels []int, chosen []catalog.Choice) error {
	if groups < 1 {
		return cli.Flagf("groups", "%d: must be at least 1", groups)
	}
	if groups > 1 && slices.ContainsFunc(chosen, func(c catalog.Choice) bool { return c.Recipe == "reconnect" }) {
		return cli.Flagf("groups", "%d: must be 1 for reconnect, whose outage hits all clients at the same time", groups)
	}
	for _, n := range levels {
		if n%groups != 0 {
			nearest := max(groups, (n+groups/2)/groups*groups)
			return cli.Flagf("groups", "%d: %d clients cannot be divided evenly, but %d can: change --clients", groups, n, nearest)
		}
	}
	return nil
}

func checkClients(levels []int) error {
	if len(levels) == 0 {
		return cli.Flagf("clients", ": name at least one number of clients")
	}
	for _, n := range levels {
		if n < 1 {
			return cli.Flagf("clients", "%d: must be at least 1", n)
		}
	}
	return nil
}
