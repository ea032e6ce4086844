package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/render"
)

// An observeFlags holds the flags of stampede observe.
type observeFlags struct {
	backend    string
	security   drivers.Security
	listen     string
	encryption listenTLS
	env        []string
	thresholds []string
	length     time.Duration
	project    int
	outputs    outputs.Flags
	saving     spec.Saving
	metrics    string // address for Prometheus
	page       string // address of the page that shows the report so far
	capture    captureFlags
	faults     observeFaults
	dryRun     bool
}

func (a *app) observeCommand() *cobra.Command {
	var f observeFlags
	cmd := &cobra.Command{
		Use:   "observe [flags] [-- COMMAND [ARGUMENT]...]",
		Short: "See what other programs' traffic does to a service, and whether it herds",
		Long: `Observe puts a proxy between other programs and a service. It passes all bytes on
unchanged, and counts which change wakes how many sessions, what these do next,
and recognizes the recipe and its form.

Behind --, it runs a command: it starts the backend, or uses the one given,
replaces {address} in the arguments and in --env, and reports when the command
has ended. Otherwise it observes until --for has passed or Ctrl-C, with one
port for each server, so that clients fail over as without it. With --pcap it
reads captured packets, also while tcpdump writes them to a pipe, and is not in
the path between clients and servers; --backend then says only which protocol
they carry.

The exit code is 1 if the command failed, else 99 if a threshold is not met, 97
if a threshold could not be judged, and else 0. Traffic that was not analysed is
named by its cause; a threshold that it could change is not judged (97).

A proxy changes what the service knows of its clients: their address is the
proxy's, in ip access lists and limits of connections per address; an identity
by a TLS certificate does not pass. Node data and credentials are neither kept
nor shown.`,
		Example: `  stampede observe --env ZK_CONNECT={address} --threshold 'fanout.max <= 5' -- go test ./...
  stampede observe --backend etcd: -- ./integration-tests --endpoints {address}
  stampede observe --backend zookeeper://zk1:2181,zk2:2181 --listen 127.0.0.1:12181 --for 10m
  stampede observe --pcap zk.pcap --port 2181
  tcpdump -U -w - port 2181 | stampede observe --pcap -
  tcpdump -i eth0 -U -w - port 2379 | stampede observe --backend etcd: --pcap -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return cli.Usagef("unexpected argument %q: a command follows --", args[0])
			}
			if len(args) == 0 && cmd.ArgsLenAtDash() == 0 { // a variable of the script's may be empty
				return cli.Usagef("no command follows --: name one, or leave -- out to observe until Ctrl-C")
			}
			return a.observe(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.backend, "backend", "b", "native:", "`URL` of the service; see stampede list")
	spec.RegisterTLS(flags, &f.security)
	cli.Complete(cmd, "backend", spec.BackendWords)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "`HOST:PORT` of the proxy; further servers have the ports that follow")
	f.encryption.register(flags)
	flags.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` in the environment of the command, {address} replaced; repeatable")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "`CONDITION` such as 'fanout.max <= 5' or '/path/*: wasted < 10%'; repeatable")
	cli.Complete(cmd, "threshold", func() []string { return spec.FigureWords(figure.OfObservations()) })
	flags.DurationVar(&f.length, "for", 0, "how long to observe without a command (default: until Ctrl-C)")
	flags.IntVar(&f.project, "project", 0, "tell what a change would cost with `N` clients")
	f.saving.Register(cmd)
	f.outputs.Register(cmd, results.KindObservation)
	f.capture.register(cmd)
	f.faults.register(flags)
	flags.BoolVar(&f.dryRun, "dry-run", false, "check the flags and print the service, faults and thresholds; start nothing")
	cli.Complete(cmd, "fault", presetNames)
	spec.RegisterMetrics(flags, &f.metrics)
	flags.StringVar(&f.page, pageFlag, "", "`HOST:PORT` of a page that shows what was observed so far, e.g. 127.0.0.1:8080 (default: none)")
	for _, name := range []string{"listen", "env", "for", "project", "nemesis", "probe", "seed", spec.MetricsFlag, pageFlag} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	return cmd
}

func (a *app) observe(ctx context.Context, f observeFlags, command []string) error {
	checked, err := f.check(command)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.planObserve(f, checked)
	}
	outs, err := f.outputs.Open(results.KindObservation, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	file := results.Observation{Head: results.NewHead(results.KindObservation, tool(), nil, []string{"observe"}, 0)}
	file.Marks = f.saving.Marks()
	file.Backend, file.Projected = checked.target.String(), f.project
	if f.capture.given() && !checked.target.Given() { // nothing is started: only the protocol is known
		file.Backend = protocolOf(checked.target.Scheme()).Name
	}
	var failed error
	if f.capture.given() {
		failed = a.observeCapture(ctx, f, checked, &file)
	} else {
		failed = a.observeProxy(ctx, f, command, checked, &file)
	}
	if file.Source == "" {
		return failed // nothing was observed
	}
	file.Gates, file.Verdict = gate.JudgePaths(checked.thresholds, file)
	if err := a.saveAndWrite(&f.saving, outs, file); err != nil {
		return err
	}
	err = outcome(file, failed)
	if len(command) == 0 && ctx.Err() != nil {
		err = errors.Join(err, errEnded) // Ctrl-C is how an observation without --for ends
	}
	return err
}

// observeProxy observes through a proxy.
func (a *app) observeProxy(ctx context.Context, f observeFlags, command []string, c checkedObserve, file *results.Observation) error {
	w, err := a.openTapped(ctx, f, c.target)
	if err != nil {
		return err
	}
	defer w.close()
	if err := f.faults.findProbe(ctx, w); err != nil {
		return err
	}
	file.Source = "proxy"
	shown := following{*file, c.thresholds, w.seen, w.broken}
	stop, err := a.follow(ctx, f, c.target.Scheme(), shown)
	if err != nil {
		return err
	}
	defer stop()
	end := a.breakProgram(ctx, f, w)
	failed := a.observeWhile(ctx, f, command, w, file)
	broke := end()
	w.proxy.Close()
	stats := w.proxy.Stats()
	file.Observed, file.Unreached = w.seen.Report(), stats.Unreached
	if w.broken != nil {
		w.broken.judge.Advance(time.Now())
		r := w.broken.judge.Report()
		file.Faults, file.Recovery = f.faults.lines(), &r
		undone, why := f.faults.undone(r)
		r.Undone = undone
		if broke == nil { // else it says why
			broke = why
		}
		if path := r.Unwatched(); path != "" {
			fmt.Fprintf(a.err, "stampede: warning: --probe: no session that the fault hit watched %s\n", path)
		}
		if broke != nil {
			fmt.Fprintf(a.err, "stampede: warning: %v\n", broke)
		}
	}
	for _, text := range file.Unreachable() {
		fmt.Fprintf(a.err, "stampede: warning: %s\n", text)
	}
	return errors.Join(failed, stats.Failure)
}

// planObserve prints what would be done.
func (a *app) planObserve(f observeFlags, c checkedObserve) error {
	rows := append([][]string{{"service", c.target.String()}}, f.faults.plan()...)
	for _, t := range c.thresholds {
		rows = append(rows, []string{"threshold", t.String()})
	}
	if err := render.WriteColumns(a.out, "", rows); err != nil {
		return err
	}
	return a.dryRun()
}

// A checkedObserve holds the parsed and checked flags of observe.
type checkedObserve struct {
	target     backends.Target
	thresholds []gate.PathThreshold
}

// check checks everything that can be checked before anything is started.
func (f *observeFlags) check(command []string) (c checkedObserve, err error) {
	if c.target, err = backends.Parse(f.backend); err != nil {
		return c, cli.Usage(err)
	}
	if !c.target.Given() {
		if slices.ContainsFunc(spec.TLSFlags(), f.capture.changed) {
			return c, cli.Flagf("tls", "flags: %w", backends.ErrStarted)
		}
		f.security = drivers.Security{} // from variables or the project's defaults, which are for other services
	}
	if err := f.security.Validate(); err != nil {
		return c, cli.Usage(err)
	}
	if err := checkListen("listen", f.listen); err != nil {
		return c, err
	}
	if _, err := f.encryption.config(nil); err != nil {
		return c, err
	}
	if _, err := f.security.TLSConfig(); err != nil {
		return c, cli.Flagf("tls", "flags: %w", err)
	}
	switch {
	case f.length <= 0 && f.capture.changed("for"):
		return c, cli.Flagf("for", "%v: must be more than 0", f.length)
	case len(command) > 0 && f.length > 0:
		return c, cli.Flagf("for", "and a command: the observation lasts as long as the command")
	case len(command) == 0 && len(f.env) > 0:
		return c, cli.Flagf("env", "without a command: put the command behind --")
	case f.project < 1 && f.capture.changed("project"):
		return c, cli.Flagf("project", "%d: must be at least 1", f.project)
	}
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return c, cli.Usage(err)
		}
	}
	if f.faults.given() && f.capture.given() {
		return c, cli.Flagf("fault", "%w", errNoFaultsInCaptures)
	}
	if err := f.capture.check(command); err != nil {
		return c, err
	}
	for _, e := range f.env {
		if name, _, found := strings.Cut(e, "="); !found || name == "" {
			return c, cli.Flagf("env", "%q: want NAME=VALUE", e)
		}
	}
	preset, err := f.faults.check(c.target, f.length)
	if err != nil {
		return c, err
	}
	if c.target, err = f.faults.prepared(c.target); err != nil {
		return c, cli.Usage(err)
	}
	for _, text := range append(preset, f.thresholds...) {
		t, err := gate.ParsePath(text)
		if err != nil {
			return c, cli.Usage(err)
		}
		c.thresholds = append(c.thresholds, t)
	}
	return c, f.saving.Check()
}

// outcome returns the error for the exit code: the command's failure, then the thresholds.
func outcome(file results.Observation, failed error) error {
	switch {
	case failed != nil:
		return failed
	case file.Verdict == results.Fail:
		return cli.Finding(cli.ExitThreshold, "a threshold is not met")
	case file.Verdict == results.Invalid:
		return cli.Finding(cli.ExitInvalid, "a threshold could not be judged")
	}
	return nil
}

// protocolOf returns the protocol of a backend's services.
func protocolOf(scheme string) traffic.Protocol {
	if scheme == "etcd" {
		return etcd.Protocol()
	}
	return traffic.ZooKeeper()
}

// capturedProtocol returns the protocol as packets have it.
func capturedProtocol(scheme string) traffic.Protocol {
	if scheme == "etcd" {
		return etcd.Captured()
	}
	return protocolOf(scheme)
}

// A tapped service is a service with a proxy before it.
type tapped struct {
	seen    *observe.Analysis
	proxy   *proxy.Proxy
	service io.Closer // nil if it was given
	broken  *breaking // nil without faults
	secure  bool      // TLS is on one of the proxy's sides, or on both
}

func (w tapped) close() {
	w.proxy.Close()
	if w.broken != nil {
		w.broken.close()
	}
	if w.service != nil {
		w.service.Close()
	}
}

// address returns the addresses for clients: of the proxy, separated by commas.
func (w tapped) address() string { return strings.Join(w.proxy.Addresses(), ",") }

func (w tapped) String() string {
	text := fmt.Sprintf("observing at %s; servers see the proxy's address as that of every client", w.address())
	if w.secure {
		text += ", and its certificate if it has one: x509 identities of clients do not reach them"
	}
	return text
}

// A listenTLS holds the flags for TLS between clients and the proxy.
type listenTLS struct{ files certificates.Files }

func (l *listenTLS) register(flags *pflag.FlagSet) {
	flags.StringVar(&l.files.Cert, "listen-cert", "", "PEM `FILE` of the proxy's certificate: clients then connect with TLS")
	flags.StringVar(&l.files.Key, "listen-key", "", "PEM `FILE` of its key, which may be the same")
	flags.StringVar(&l.files.ClientCA, "listen-client-ca", "", "PEM `FILE` of the authorities that sign clients' certificates; every client must then have one")
	l.files.MinVersion = tls.VersionTLS12
}

func (l *listenTLS) given() bool {
	return l.files.Cert != "" || l.files.Key != "" || l.files.ClientCA != ""
}

// config reads the files and returns the configuration, nil without TLS.
func (l *listenTLS) config(protocols []string) (*tls.Config, error) {
	if !l.given() {
		return nil, nil
	}
	if err := l.files.Validate(); err != nil {
		return nil, cli.Flagf("listen-cert", "and --listen-key: %w", err)
	}
	encryption, err := l.files.Config(protocols...)
	if err != nil {
		return nil, cli.Usagef("--listen-cert, --listen-key and --listen-client-ca: %w", err)
	}
	return encryption, nil
}

// A following is an observation in progress, as metrics and a page show it.
type following struct {
	file       results.Observation // without what was observed
	thresholds []gate.PathThreshold
	seen       *observe.Analysis
	broken     *breaking // nil without faults
}

// follow shows the observation as metrics and on a page, if flags or the environment ask for that, until
// the returned function is called.
func (a *app) follow(ctx context.Context, f observeFlags, scheme string, o following) (stop func(), err error) {
	to, err := a.expose(ctx, f.metrics, export.Observed(scheme, o.seen))
	if err != nil {
		return nil, err
	}
	close, err := a.openReport(f.page, o)
	if err != nil {
		to.stop(ctx)
		return nil, err
	}
	return func() { close(); to.stop(ctx) }, nil
}

// pageFlag is the flag for the address of the page of an observation: --listen is that of the proxy.
const pageFlag = "page"

// openReport shows the report so far on a page, if there is an address, until the returned function is
// called.
func (a *app) openReport(addr string, o following) (close func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	e, err := live.Serve(addr, live.NewReport(o.write))
	if err != nil {
		return nil, cli.Usagef("--%s %s: cannot show a page there: %w", pageFlag, addr, cli.WithoutAddress(err))
	}
	fmt.Fprintf(a.err, "stampede: live page: %s\n", e.URL)
	if !e.Local {
		fmt.Fprintf(a.err, "stampede: warning: --%s %s: anyone who can reach it can watch the observation\n", pageFlag, addr)
	}
	return e.Close, nil
}

// write writes the report of what has been observed so far.
func (o following) write(w io.Writer) error {
	file := o.file
	file.Observed = o.seen.SoFar()
	if o.broken != nil {
		o.broken.judge.Advance(time.Now())
		r := o.broken.judge.SoFar()
		file.Recovery = &r
	}
	file.Gates, file.Verdict = gate.JudgePaths(o.thresholds, file)
	return render.WriteSoFar(w, file, live.RefreshScript)
}
