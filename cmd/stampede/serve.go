package main

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/server/wal"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/metrics/export"
)

// A serveFlags holds the flags of stampede serve.
type serveFlags struct {
	listen      string
	tls         serveTLS
	limits      serveLimits
	tick        time.Duration
	superDigest string
	dataDir     string
	durability  string
	metricsAddr string
	ensemble    serveEnsemble
}

// defaultListen is the server's default address.
const defaultListen = "127.0.0.1:2181"

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the native server, which speaks ZooKeeper's protocol",
		Long: `Serve runs the native server, which speaks ZooKeeper's protocol, until SIGINT,
SIGTERM or SIGHUP. It keeps all data in memory. With --data-dir it writes every change to disk
before any client sees it, and after a restart it has the same nodes and sessions.

With --tls-listen it serves over TLS, in addition to --listen or alone. It reloads
certificate, key and authorities when their files change. A client's certificate is
its identity in access lists: scheme x509, with the subject as ID.

With --peers it is one member of an ensemble: three or five servers, one of which leads
and each of which serves clients while a majority of them runs. A write is acknowledged
when a majority has it on disk. The members are fixed.

At an address that other machines can reach it accepts at most 60 connections from
each address and answers only the four-letter words srvr and ruok, unless flags say
otherwise.`,
		Example: `  stampede serve --listen 127.0.0.1:2181 --data-dir /var/lib/stampede
  stampede serve --tls-listen 0.0.0.0:2281 --tls-cert server.pem --tls-key server.pem --tls-client-ca ca.pem
  stampede serve --id 1 --peers 1=a:2888,2=b:2888,3=c:2888 --peer-secret-file secret --data-dir /var/lib/stampede`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.listen = f.listenAddress()
			f.tls.changed, f.ensemble.changed, f.limits.changed = cmd.Flags().Changed, cmd.Flags().Changed, isSet(cmd.Flags())
			return a.serve(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`HOST:PORT` to serve on without TLS; port 0 is any that is free (default: "+defaultListen+", and none with --tls-listen)")
	f.tls.register(cmd)
	f.limits.register(cmd)
	f.ensemble.register(cmd)
	flags.DurationVar(&f.tick, "tick", server.DefaultTick, "unit of session time-outs")
	flags.StringVar(&f.superDigest, "super-digest", "", "`USER:DIGEST` of the superuser; the digest is the base64 of the SHA-1 of user:password")
	flags.StringVar(&f.dataDir, "data-dir", "", "`DIR` of the log of all changes, created if missing")
	flags.StringVar(&f.durability, "durability", "", "where a write is when it is acknowledged: fsync or memory (default: fsync with --data-dir)")
	spec.RegisterMetrics(flags, &f.metricsAddr)
	cli.Complete(cmd, "durability", durabilities)
	for _, name := range []string{"listen", "tick", "super-digest", spec.MetricsFlag} {
		cli.Complete(cmd, name, func() []string { return nil }) // and no files
	}
	return cmd
}

// errEnded is the result of serving until a signal ended it.
var errEnded = cli.Finding(cli.ExitOK, "ended by a signal")

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	server.BoundGarbage()
	cfg, err := f.tls.config(a.err)
	if err != nil {
		return err
	}
	l, err := f.open(cfg)
	if err != nil {
		return err
	}
	o := f.limits.options(l.reachable())
	o.Tick, o.SuperDigest = f.tick, f.superDigest
	s, kept, end, err := a.openServer(ctx, &f, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer end()
	shown, err := a.expose(ctx, f.metricsAddr, export.Native(s))
	if err != nil {
		s.Close()
		return errors.Join(err, l.Close())
	}
	defer shown.stop(ctx)
	l.warn(a.err)
	fmt.Fprintf(a.out, "serving %v, %s\n%s", l, kept, spec.ThisMachine().Allows())
	return l.serve(ctx, s)
}

// openServer returns a server, what it says of its data, and a function to call when it has ended.
func (a *app) openServer(ctx context.Context, f *serveFlags, o server.Options) (s *server.Server, kept string, end func() error, err error) {
	kept = "durability fsync: it is in " + f.dataDir
	switch {
	case !f.ensemble.alone():
		s, log, err := f.ensemble.open(ctx, o, f.dataDir, a.err)
		if err != nil {
			return nil, "", nil, err
		}
		return s, f.ensemble.String() + ", " + kept, log.Close, nil
	case f.dataDir != "":
		if o.Journal, err = wal.Open(f.dataDir); err != nil {
			return nil, "", nil, fmt.Errorf("--data-dir: %w", err)
		}
		return server.New(o), kept, o.Journal.Close, nil
	}
	return server.New(o), "durability memory: the data ends with the process", func() error { return nil }, nil
}

func (f serveFlags) listenAddress() string {
	if f.listen == "" && f.tls.listen == "" {
		return defaultListen
	}
	return f.listen
}

func (f *serveFlags) check() error {
	if err := checkListen("listen", f.listen); err != nil {
		return err
	}
	if err := f.tls.check(); err != nil {
		return err
	}
	if err := cli.CheckDuration("tick", f.tick, time.Millisecond); err != nil {
		return err
	}
	if err := f.limits.check(f.tick); err != nil {
		return err
	}
	if f.superDigest != "" && !isDigest(f.superDigest) {
		return cli.Flagf("super-digest", ": not a user, a colon and the base64 of a SHA-1")
	}
	if err := f.ensemble.check(f.dataDir); err != nil {
		return err
	}
	return f.checkDurability()
}

func (f serveFlags) checkDurability() error {
	switch {
	case f.durability != "" && !slices.Contains(durabilities(), f.durability):
		return cli.Usage(suggest.Unknown("durability", f.durability, durabilities()))
	case f.durability == server.Fsync && f.dataDir == "":
		return cli.Flagf("durability", "fsync: say where with --data-dir")
	case f.durability == server.Memory && f.dataDir != "":
		return cli.Flagf("durability", "memory: nothing would be in --data-dir %s: give one of the two", f.dataDir)
	}
	return nil
}

func durabilities() []string { return []string{server.Fsync, server.Memory} }

// isDigest reports whether s has the form that [server.Digest] returns.
func isDigest(s string) bool {
	user, digest, _ := strings.Cut(s, ":")
	sum, err := base64.StdEncoding.DecodeString(digest)
	return user != "" && err == nil && len(sum) == sha1.Size
}

const (
	limitConnections = "max-connections-per-address"
	limitSessions    = "max-sessions"
	leastTimeout     = "min-session-timeout"
	mostTimeout      = "max-session-timeout"
	juteMaxBuffer    = "jute-maxbuffer"
	limitWords       = "words"
	allWords         = "all"
)

// reachableConnections is the default of ZooKeeper's maxClientCnxns. It applies to servers that
// clients on other machines can reach.
const reachableConnections = 60

// largestBuffer is the highest limit on a request's size that the flag accepts, in bytes.
const largestBuffer = 64 << 20

// reachableWords lists the four-letter words that such a server answers by default.
func reachableWords() []string { return []string{"ruok", "srvr"} }

// A serveLimits holds the limits that stampede serve imposes on clients.
type serveLimits struct {
	connections int
	sessions    int
	min, max    time.Duration
	packet      int
	words       []string
	changed     func(flag string) bool
}

func (l *serveLimits) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&l.connections, limitConnections, 0, "`N` connections that one address may have, 0 for any number (default: 60 where --listen or --tls-listen is beyond this machine)")
	flags.IntVar(&l.sessions, limitSessions, 0, "`N` sessions that may be open, 0 for any number")
	flags.DurationVar(&l.min, leastTimeout, 0, "shortest session time-out (default: 2 ticks)")
	flags.DurationVar(&l.max, mostTimeout, 0, "longest session time-out (default: 20 ticks)")
	flags.IntVar(&l.packet, juteMaxBuffer, wire.MaxPacket, "largest request in `BYTES`")
	flags.StringSliceVar(&l.words, limitWords, nil, "four-letter `WORDS` to answer, with commas between them, or all (default: all, and srvr,ruok where --listen or --tls-listen is beyond this machine)")
	for _, name := range []string{limitConnections, limitSessions, leastTimeout, mostTimeout, juteMaxBuffer} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	cli.Complete(cmd, limitWords, func() []string { return append([]string{allWords}, fourletter.Names()...) })
}

// isSet reports whether a flag has a value from the command line or its variable.
func isSet(flags *pflag.FlagSet) func(name string) bool {
	return func(name string) bool { return cli.WasGiven(flags.Lookup(name)) }
}

func (l *serveLimits) check(tick time.Duration) error {
	if l.connections < 0 {
		return cli.Usagef("--%s %d: must be 0 or more", limitConnections, l.connections)
	}
	if l.sessions < 0 {
		return cli.Usagef("--%s %d: must be 0 or more", limitSessions, l.sessions)
	}
	if err := spec.ThisMachine().DescriptorsFor(limitSessions, int64(l.sessions), 0); err != nil {
		return err
	}
	if l.packet < 1<<10 || l.packet > largestBuffer {
		return cli.Usagef("--%s %d: must be between %d and %d", juteMaxBuffer, l.packet, 1<<10, largestBuffer)
	}
	for _, word := range l.words {
		if word != allWords && !slices.Contains(fourletter.Names(), word) {
			return cli.Usagef("--%s: %w", limitWords, suggest.Unknown("word", word, append([]string{allWords}, fourletter.Names()...)))
		}
	}
	return l.checkTimeouts(tick)
}

func (l *serveLimits) checkTimeouts(tick time.Duration) error {
	if l.min < 0 || l.max < 0 {
		return cli.Usagef("--%s and --%s: must not be negative", leastTimeout, mostTimeout)
	}
	if shortest, longest := cmp.Or(l.min, 2*tick), cmp.Or(l.max, 20*tick); shortest > longest {
		return cli.Usagef("--%s: the shortest session time-out, %v, is longer than the longest, %v", leastTimeout, shortest, longest)
	}
	return nil
}

// options returns the server's limits. Reachable says whether clients on other machines can reach
// it, which changes the defaults.
func (l *serveLimits) options(reachable bool) server.Options {
	o := server.Options{MaxPerHost: l.connections, MaxSessions: l.sessions, MinTimeout: l.min, MaxTimeout: l.max, MaxPacket: l.packet}
	if reachable && !l.changed(limitConnections) {
		o.MaxPerHost = reachableConnections
	}
	switch {
	case reachable && !l.changed(limitWords):
		o.Words = reachableWords()
	case l.changed(limitWords) && !slices.Contains(l.words, allWords):
		o.Words = append([]string{}, l.words...)
	}
	return o
}
