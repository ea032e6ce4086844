package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/traffic/capture"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// A captureFlags holds the flags for captured packets.
type captureFlags struct {
	file, device string
	ports        portList
	changed      func(string) bool
}

func (c *captureFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.file, "pcap", "", "`FILE` of captured packets to read, pcap or pcapng")
	flags.StringVar(&c.device, "interface", "", "network interface `NAME` to capture from; needs the right to open packet sockets")
	flags.Var(&c.ports, "port", "`PORT` of the servers in captured packets, repeatable (default: 2181, for etcd 2379)")
	for _, name := range []string{"interface", "port"} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	c.changed = flags.Changed
}

func (c *captureFlags) given() bool { return c.file != "" || c.device != "" }

func (c *captureFlags) check(command []string) error {
	switch {
	case c.file != "" && c.device != "":
		return cli.Flagf("pcap", "and --interface: want one of them")
	case !c.given() && len(c.ports) > 0:
		return cli.Flagf("port", "without --pcap or --interface: a proxy's port is that of --listen")
	case !c.given():
		return nil
	case len(command) > 0:
		return cli.Usagef("a command with captured packets: a command runs with the proxy only")
	case c.changed("listen"):
		return cli.Flagf("listen", "with captured packets: nothing is served")
	case c.changed("listen-cert") || c.changed("listen-key") || c.changed("listen-client-ca"):
		return cli.Usagef("--listen-cert, --listen-key and --listen-client-ca with captured packets: nothing is served")
	case c.file != "" && c.changed("for"):
		return cli.Flagf("for", "with --pcap: a file is read to its end")
	}
	if c.file != "" {
		if _, err := os.Stat(c.file); err != nil {
			return cli.Flagf("pcap", "%s: %w", c.file, cli.WithoutPath(err))
		}
	}
	return nil
}

// A portList is the value of a flag that may be given several times.
type portList []uint16

// Set adds a port, or several with commas between them.
func (l *portList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseUint(word, 10, 16)
		if err != nil || p == 0 {
			return errors.New("must be from 1 to 65535")
		}
		*l = append(*l, uint16(p))
	}
	return nil
}

func (l *portList) String() string {
	words := make([]string, len(*l))
	for i, p := range *l {
		words[i] = strconv.Itoa(int(p))
	}
	return strings.Join(words, ",")
}

// Type returns the name of the type.
func (l *portList) Type() string { return "ports" }

// The ports at which services listen by default.
const (
	zooKeeperPort = 2181
	etcdPort      = 2379
)

func (c *captureFlags) options(scheme string, seen *observe.Analysis) capture.Options {
	o := capture.Options{Protocol: protocolOf(scheme), Observer: seen, Ports: c.ports}
	if len(o.Ports) == 0 {
		o.Ports = []uint16{zooKeeperPort}
		if scheme == "etcd" {
			o.Ports[0] = etcdPort
		}
	}
	return o
}

// observeCapture observes captured packets: of a file to its end, of an interface until --for or
// Ctrl-C.
func (a *app) observeCapture(ctx context.Context, f observeFlags, c checkedObserve, file *results.Observation) error {
	seen := observe.New(observe.DefaultLimits)
	source := "interface"
	if f.capture.file != "" {
		source = "capture file"
	}
	stop, err := a.follow(ctx, f, c.target.Scheme(), following{observationFrom(*file, source), c.thresholds, seen, func() int64 { return 0 }})
	if err != nil {
		return err
	}
	defer stop()
	options := f.capture.options(c.target.Scheme(), seen)
	stats, err := f.capture.read(options, func() { await(ctx, f.length) })
	if err != nil && stats.Packets == 0 {
		return cli.Usage(err)
	}
	file.Source = source
	file.PacketsDropped, file.Observed = stats.Dropped, seen.Report()
	file.Observed.Traffic.Beyond.Connections += int64(stats.Ignored)
	return err
}

func (c *captureFlags) read(o capture.Options, wait func()) (capture.Stats, error) {
	if c.device != "" {
		i, err := capture.Listen(c.device, o)
		if err != nil {
			return capture.Stats{}, err
		}
		wait()
		return i.Close()
	}
	file, err := os.Open(c.file)
	if err != nil {
		return capture.Stats{}, err
	}
	defer file.Close()
	return capture.Read(file, o)
}
