package spec

import (
	"slices"
	"strconv"

	"github.com/stampede-bench/stampede/results/units"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/preload"
)

const (
	// defaultReads is ten reads to each write.
	defaultReads = 10. / 11
	defaultSize  = "1k"
	// mostKeys and mostBytes keep a typing error from filling a service.
	mostKeys  = 1_000_000
	mostBytes = 2 << 20
	// mostTxnOps is half of etcd's default limit of operations in a transaction: each set also reads the version that
	// it made.
	mostTxnOps = 64
	// mostTxnBytes leaves room for the rest of a request in ZooKeeper's packets of less than 1 MiB.
	mostTxnBytes = 1_000_000
	mostName     = 255
	// mostListBytes is less than the largest reply that every client library accepts.
	mostListBytes = 60_000_000
	// mostInFlight is ZooKeeper's default globalOutstandingLimit: with more requests outstanding
	// over all sessions, the server throttles clients.
	mostInFlight = 1000
)

// A Mix holds the flags of raw operations, and of the nodes and watches that exist on the
// service beside the measured nodes.
type Mix struct {
	workloads.MixSettings // the parsed flags; check sets them
	keysByText, sizeBy    string
	ReadsText, SizeText   string
	preload               preload.Data
	nodes                 int // how many nodes are created before the run
}

func (m *Mix) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.ReadsText, "reads", "", "`SHARE` of reads in a mix, 0 to 1 (default 10 of 11)")
	flags.IntVar(&m.Keys, "keys", workloads.DefaultKeys, "number of nodes that a mix reads and sets")
	flags.StringVar(&m.keysByText, "keys-by", string(draw.Uniform), "how a mix chooses nodes: uniform, or zipfian, in which few nodes are hot")
	flags.IntVar(&m.NameLength, "name-length", 0, "least number of bytes in the name of each node of a mix (default: names are short)")
	flags.StringVar(&m.SizeText, "size", defaultSize, "`BYTES` of each value in a mix: 100, 1k, 1KiB")
	flags.StringVar(&m.sizeBy, "size-by", string(draw.Constant), "`DISTRIBUTION` of the sizes of values: constant, uniform or zipfian from 1 byte to --size, or a histogram SIZE=WEIGHT,... such as 100=90,1k=9,100k=1")
	flags.IntVar(&m.InFlight, "in-flight", 1, "number of requests that each client of a mix keeps in flight on its session")
	flags.Float64Var(&m.Lists, "lists", 0, "share of a mix's reads that list nodes, 0 to 1")
	flags.IntVar(&m.ListSize, "list-size", workloads.DefaultListSize, "number of nodes that each list of a mix returns")
	flags.Float64Var(&m.Creates, "creates", 0, "share of a mix's writes that create a node, 0 to 0.5; the same share deletes one")
	flags.BoolVar(&m.Grow, "grow", false, "keep all nodes that --creates makes, up to 1, so that the set of nodes grows")
	flags.Float64Var(&m.Txns, "txns", 0, "share of a mix's writes that are transactions, 0 to 1")
	flags.IntVar(&m.TxnOps, "txn-ops", workloads.DefaultTxnOps, "number of nodes that each transaction of a mix sets")
	flags.BoolVar(&m.Conditional, "conditional", false, "read before each set or transaction of a mix, and set only if no node has changed since")
	flags.IntVar(&m.Watchers, "watchers", 0, "number of further sessions that watch the nodes of a mix")
	flags.IntVar(&m.preload.Nodes, "preload", 0, "number of further nodes to create on the service before the run")
	flags.IntVar(&m.preload.Watches, "preload-watches", 0, "number of watches on these, which never fire")
	cli.Complete(cmd, "keys-by", draw.OfKeys)
	cli.Complete(cmd, "size-by", draw.OfSizes)
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
	if m.ReadsText != "" && !mixed {
		return cli.Flagf("reads", "%s: only a mix has a share of reads: stampede run mix, or --background reads=%[1]s; how consistent reads are: --consistency", m.ReadsText)
	}
	m.Reads = defaultReads
	if m.ReadsText != "" {
		if m.Reads, err = strconv.ParseFloat(m.ReadsText, 64); err != nil {
			return cli.Flagf("reads", "%s: want a share of reads such as 0.9; how consistent reads are: --consistency", m.ReadsText)
		}
	}
	if err := checkShare("reads", m.Reads, 1); err != nil {
		return err
	}
	if !slices.Contains(draw.OfKeys(), m.keysByText) {
		return cli.OfFlag("keys-by", suggest.Unknown("choice of keys", m.keysByText, draw.OfKeys()))
	}
	m.KeysBy = draw.Distribution(m.keysByText)
	if err := m.checkSizes(); err != nil {
		return err
	}
	if err := checkShare("lists", m.Lists, 1); err != nil {
		return err
	}
	most := 0.5 // equally many delete
	if m.Grow {
		most = 1
	}
	if err := checkShare("creates", m.Creates, most); err != nil {
		return err
	}
	if m.Grow && m.Creates == 0 {
		return cli.Flagf("grow", ": nothing creates nodes: set their share of the writes with --creates")
	}
	if err := m.checkTxns(); err != nil {
		return err
	}
	return m.checkCounts()
}

func (m *Mix) checkSizes() (err error) {
	if m.Size, err = parseSize(m.SizeText); err != nil {
		return cli.Flagf("size", "%s: %v", m.SizeText, err)
	}
	m.SizeBy = draw.Distribution(m.sizeBy)
	switch {
	case draw.IsHistogram(m.sizeBy) && m.SizeText != defaultSize:
		return cli.Flagf("size", "%s: --size-by has the sizes: leave out --size", m.SizeText)
	case draw.IsHistogram(m.sizeBy):
		if m.SizeBy, m.Size, err = draw.Histogram(m.sizeBy, parseSize); err != nil {
			return cli.Flagf("size-by", ": %v", err)
		}
	case !slices.Contains(draw.OfSizes(), m.sizeBy):
		return cli.OfFlag("size-by", suggest.Unknown("distribution of sizes", m.sizeBy, append(draw.OfSizes(), "a histogram such as 100=90,1k=9")))
	}
	return nil
}

// checkTxns rejects shares that leave too little of the writes, and transactions that no service takes.
func (m *Mix) checkTxns() error {
	if err := checkShare("txns", m.Txns, 1); err != nil {
		return err
	}
	others := m.Creates
	if !m.Grow {
		others *= 2
	}
	bytes := m.TxnOps * m.Size
	switch {
	case m.Txns+others > 1+1e-9:
		return cli.Flagf("txns", "%v: only %.3g of the writes do not create or delete nodes", m.Txns, 1-others)
	case m.TxnOps < 1 || m.TxnOps > mostTxnOps:
		return cli.Flagf("txn-ops", "%d: must be 1 to %d", m.TxnOps, mostTxnOps)
	case m.Txns > 0 && m.TxnOps > m.Keys:
		return cli.Flagf("txn-ops", "%d: a transaction sets each node once, and --keys is %d", m.TxnOps, m.Keys)
	case m.Txns > 0 && bytes > mostTxnBytes:
		return cli.Flagf("txn-ops", "%d: a transaction would have %s B of values: must be at most %s B", m.TxnOps, units.Count(int64(bytes)), units.Count(mostTxnBytes))
	}
	return nil
}

func (m *Mix) checkCounts() error {
	switch p := m.preload; {
	case m.Keys < 1 || m.Keys > mostKeys:
		return cli.Flagf("keys", "%d: must be 1 to %s", m.Keys, units.Count(mostKeys))
	case m.NameLength < 0 || m.NameLength > mostName:
		return cli.Flagf("name-length", "%d: must be 0 to %d", m.NameLength, mostName)
	case m.ListSize < 1 || m.ListSize > mostKeys:
		return cli.Flagf("list-size", "%d: must be 1 to %s", m.ListSize, units.Count(mostKeys))
	case m.Lists > 0 && m.ListSize > m.Keys && m.ListSize != workloads.DefaultListSize:
		return cli.Flagf("list-size", "%d: set the number of nodes to as many: --keys %[1]d", m.ListSize)
	case m.Lists > 0 && m.ListSize*max(m.NameLength, len(strconv.Itoa(m.Keys))) > mostListBytes:
		return cli.Flagf("list-size", "%d: a list would have more than %s B of names", m.ListSize, units.Count(mostListBytes))
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
		return 0, cli.Usagef("want up to 2MiB, such as 100, 1k or 1KiB")
	}
	return int(n), nil
}

// setting returns the mix as a result records it.
func (m *Mix) setting() *results.Mix {
	r := &results.Mix{Keys: m.Keys, KeysBy: m.keysByText, NameLength: m.NameLength, SizeBytes: m.Size, InFlight: m.InFlight,
		Lists: m.Lists, Creates: m.Creates, Grow: m.Grow, Txns: m.Txns, Conditional: m.Conditional, Watchers: m.Watchers}
	if m.SizeBy != draw.Constant {
		r.SizeBy = string(m.SizeBy)
	}
	if m.Lists > 0 {
		r.ListSize = min(m.ListSize, m.Keys)
	}
	if m.Txns > 0 {
		r.TxnOps = m.TxnOps
	}
	return r
}
