package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/results/units"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

const (
	// defaultReads is ten reads to each write.
	defaultReads = 10. / 11
	defaultSize  = "1k"
	// mostKeys and mostBytes keep a typing error from filling a service.
	mostKeys  = 1_000_000
	mostBytes = 1 << 20
	// mostInFlight is ZooKeeper's default globalOutstandingLimit: with more requests outstanding
	// over all sessions, the server throttles clients.
	mostInFlight = 1000
)

// A Mix holds the flags of raw operations, and of the nodes and watches that exist on the
// service beside the measured nodes.
type Mix struct {
	workloads.MixSettings // the parsed flags; check sets them
	readsText             string
	keysByText, SizeText  string
	preload               workloads.Preload
	nodes                 int // how many nodes are created before the run
}

func (m *Mix) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Lookup("reads").Usage = "`SHARE|MODE` of reads: the share of them in a mix, 0 to 1 (default 10 of 11); the mode if the URL does not name it: " +
		strings.Join(backends.ReadModes(), ", ") + "; or both, as in 0.5,sync"
	flags.IntVar(&m.Keys, "keys", workloads.DefaultKeys, "number of nodes that a mix reads and sets")
	flags.StringVar(&m.keysByText, "keys-by", string(workloads.Uniform), "how a mix chooses nodes: uniform, or zipfian, in which few nodes are hot")
	flags.StringVar(&m.SizeText, "size", defaultSize, "`BYTES` of each value in a mix: 100, 1k, 1KiB")
	flags.IntVar(&m.InFlight, "in-flight", 1, "number of requests that each client of a mix keeps in flight on its session")
	flags.Float64Var(&m.Lists, "lists", 0, "share of a mix's reads that list nodes, 0 to 1")
	flags.Float64Var(&m.Creates, "creates", 0, "share of a mix's writes that create a node, 0 to 0.5; the same share deletes one")
	flags.BoolVar(&m.Conditional, "conditional", false, "read before each set of a mix, and set only if the node has not changed since")
	flags.IntVar(&m.Watchers, "watchers", 0, "number of further sessions that watch the nodes of a mix")
	flags.IntVar(&m.preload.Nodes, "preload", 0, "number of further nodes to create on the service before the run")
	flags.IntVar(&m.preload.Watches, "preload-watches", 0, "number of watches on these, which never fire")
	cli.Complete(cmd, "keys-by", keysBy)
}

func keysBy() []string { return []string{string(workloads.Uniform), string(workloads.Zipfian)} }

// takeReads parses the part of --reads that concerns a mix, and returns the read mode that it
// names.
func (m *Mix) takeReads(words string) (mode string, err error) {
	m.Reads = defaultReads
	if words == "" {
		return "", nil
	}
	for word := range strings.SplitSeq(words, ",") {
		share, err := strconv.ParseFloat(word, 64)
		switch {
		case err == nil && m.readsText == "":
			m.Reads, m.readsText = share, word
		case err != nil && mode == "" && word != "":
			mode = word
		default:
			return "", cli.Flagf("reads", "%s: want a share of reads such as 0.9, a mode such as sync, or both as in 0.9,sync", words)
		}
	}
	return mode, checkShare("reads", m.Reads, 1)
}

func checkShare(flag string, share, most float64) error {
	if !(share >= 0 && share <= most) { // also rejects NaN
		return cli.Usagef("--%s %v: must be between 0 and %v", flag, share, most)
	}
	return nil
}

// check rejects flags that are invalid for a run of these forms.
func (m *Mix) check(forms []catalog.Choice) (err error) {
	mixed := slices.ContainsFunc(forms, func(f catalog.Choice) bool { return f.Recipe == "mix" })
	if m.nodes = m.preload.Nodes; mixed {
		m.nodes += m.Keys
	}
	if m.InFlight != 1 && !mixed {
		return cli.Flagf("in-flight", "%d: only a mix has several requests in flight on a session: stampede run mix", m.InFlight)
	}
	if m.readsText != "" && !mixed {
		return cli.Flagf("reads", "%s: only a mix has a share of reads: stampede run mix, or --background reads=%[1]s", m.readsText)
	}
	if !slices.Contains(keysBy(), m.keysByText) {
		return cli.OfFlag("keys-by", suggest.Unknown("choice of keys", m.keysByText, keysBy()))
	}
	m.KeysBy = workloads.KeysBy(m.keysByText)
	if m.Size, err = parseSize(m.SizeText); err != nil {
		return cli.Flagf("size", "%s: %v", m.SizeText, err)
	}
	if err := checkShare("lists", m.Lists, 1); err != nil {
		return err
	}
	if err := checkShare("creates", m.Creates, 0.5); err != nil {
		return err
	}
	return m.checkCounts()
}

func (m *Mix) checkCounts() error {
	switch p := m.preload; {
	case m.Keys < 1 || m.Keys > mostKeys:
		return cli.Flagf("keys", "%d: must be 1 to %s", m.Keys, units.Count(mostKeys))
	case m.InFlight < 1 || m.InFlight > mostInFlight:
		return cli.Flagf("in-flight", "%d: must be 1 to %s", m.InFlight, units.Count(mostInFlight))
	case m.Watchers < 0:
		return cli.Flagf("watchers", "%d: must be positive, or 0 for none", m.Watchers)
	case p.Nodes < 0 || p.Nodes > mostKeys:
		return cli.Flagf("preload", "%d: must be 0 to %s", p.Nodes, units.Count(mostKeys))
	case p.Watches < 0:
		return cli.Flagf("preload-watches", "%d: must be positive, or 0 for none", p.Watches)
	case p.Watches > 0 && p.Nodes == 0:
		return cli.Flagf("preload-watches", "%d: set the number of nodes to watch with --preload", p.Watches)
	}
	return nil
}

// parseSize parses the length of a value.
func parseSize(text string) (int, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > mostBytes {
		return 0, cli.Usagef("want up to 1MiB, such as 100, 1k or 1KiB")
	}
	return int(n), nil
}

// readsWords returns the value of --reads for the mix and the mode.
func (m *Mix) readsWords(mode string) string {
	return strings.Join(slices.DeleteFunc([]string{m.readsText, mode}, func(s string) bool { return s == "" }), ",")
}

// setting returns the mix as a result records it.
func (m *Mix) setting() *results.Mix {
	return &results.Mix{Keys: m.Keys, KeysBy: m.keysByText, SizeBytes: m.Size, InFlight: m.InFlight, Lists: m.Lists, Creates: m.Creates,
		Conditional: m.Conditional, Watchers: m.Watchers}
}
