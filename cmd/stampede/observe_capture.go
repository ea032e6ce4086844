package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/traffic/capture"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// A captureFlags holds the flags for captured packets.
type captureFlags struct {
	files   []string // "-" is the standard input
	ports   portList
	changed func(string) bool
}

func (c *captureFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&c.files, "pcap", nil, "`FILE` of captured packets to read, pcap or pcapng, "+
		"- for standard input, as of tcpdump -U -w - port 2181; repeatable for the files of one capture")
	flags.Var(&c.ports, "port", "`PORT` of the servers in captured packets, repeatable (default: 2181, for etcd 2379)")
	cli.Complete(cmd, "port", func() []string { return nil })
	c.changed = flags.Changed
}

func (c *captureFlags) given() bool { return len(c.files) > 0 }

func (c *captureFlags) check(command []string) error {
	switch {
	case !c.given() && len(c.ports) > 0:
		return cli.Flagf("port", "without --pcap: a proxy's port is that of --listen")
	case !c.given():
		return nil
	case len(command) > 0:
		return cli.Usagef("a command with captured packets: a command runs with the proxy only")
	case c.changed("listen"):
		return cli.Flagf("listen", "with captured packets: nothing is served")
	case c.changed("listen-cert") || c.changed("listen-key") || c.changed("listen-client-ca"):
		return cli.Usagef("--listen-cert, --listen-key and --listen-client-ca with captured packets: nothing is served")
	case c.changed("for"):
		return cli.Flagf("for", "with --pcap: a file is read to its end")
	}
	for i, file := range c.files {
		if slices.Contains(c.files[:i], file) {
			return cli.Flagf("pcap", "%s: given twice", file)
		}
		if file == standardInput {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return cli.Flagf("pcap", "%s: %w", file, cli.WithoutPath(err))
		}
	}
	return nil
}

// standardInput is the name of the standard input as a file.
const standardInput = "-"

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
	o := capture.Options{Protocol: capturedProtocol(scheme), Observer: seen, Ports: c.ports}
	if len(o.Ports) == 0 {
		o.Ports = []uint16{zooKeeperPort}
		if scheme == "etcd" {
			o.Ports[0] = etcdPort
		}
	}
	return o
}

// observeCapture observes captured packets: of a file to its end, of standard input until that ends or Ctrl-C.
func (a *app) observeCapture(ctx context.Context, f observeFlags, c checkedObserve, file *results.Observation) error {
	seen := observe.New(observe.DefaultLimits)
	file.Source = "capture file"
	shown := following{*file, c.thresholds, seen, nil}
	stop, err := a.follow(ctx, f, c.target.Scheme(), shown)
	if err != nil {
		return err
	}
	defer stop()
	stats, err := f.capture.read(ctx, f.capture.options(c.target.Scheme(), seen))
	if err != nil && stats.Packets == 0 {
		return cli.Usage(err)
	}
	if stats.Damaged != nil {
		fmt.Fprintf(a.err, "stampede: warning: --pcap: %v; the rest was not read\n", stats.Damaged)
	}
	file.Observed = seen.Report()
	return err
}

func (c *captureFlags) read(ctx context.Context, o capture.Options) (capture.Stats, error) {
	var all []io.Reader
	for _, name := range c.files {
		in, err := openCapture(ctx, name)
		if err != nil {
			return capture.Stats{}, err
		}
		defer in.Close()
		all = append(all, in)
	}
	return capture.Read(all, o)
}

// A source is an open capture, with the name that errors give it.
type source struct {
	io.ReadCloser
	name string
}

func (s source) Name() string { return s.name }

// openCapture opens a capture. Another program may write it while it is read: to standard input, or to a named pipe.
func openCapture(ctx context.Context, name string) (source, error) {
	if name == standardInput {
		return source{growing(ctx, func() (io.ReadCloser, error) { return os.Stdin, nil }), "standard input"}, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return source{growing(ctx, func() (io.ReadCloser, error) { return os.Open(name) }), name}, nil
	}
	file, err := os.Open(name)
	return source{file, name}, err
}

// grace is how long the program that writes a capture may take to end after Ctrl-C, which it
// gets, too.
const grace = 2 * time.Second

// growing returns what another program writes, which ends some time after the context is cancelled even if that
// program does not.
func growing(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		in, err := open()
		if err == nil {
			_, err = io.Copy(w, in)
		}
		_ = w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { _ = w.Close() }) })
	return r
}
