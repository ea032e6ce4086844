package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/native/journal"
	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/telemetry"
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
}

// defaultListen is the server's default address.
const defaultListen = "127.0.0.1:2181"

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the native server by itself",
		Long: `Serve runs the native server, which speaks ZooKeeper's protocol, by itself until
it is told to end by SIGINT or SIGTERM. It keeps everything in memory: what it
holds is gone with it. With --data-dir a change is on disk before anybody is
shown it, and a server started there again goes on with nodes and sessions.

With --tls-listen it serves over TLS, beside --listen or without it. It reads
certificate, key and authorities again when their files change. A client's
certificate is its identity in access lists: scheme x509, and the subject as ID.

At an address beyond this machine it serves at most 60 connections from each
address and answers the words srvr and ruok only, unless flags say otherwise.`,
		Example: `  stampede serve --listen 127.0.0.1:2181 --data-dir /var/lib/stampede
  stampede serve --tls-listen 0.0.0.0:2281 --tls-cert server.pem --tls-key server.pem --tls-client-ca ca.pem`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f.listen = f.listenAddress()
			f.tls.changed, f.limits.changed = cmd.Flags().Changed, isSet(cmd.Flags())
			return a.serve(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`HOST:PORT` to serve on without TLS; port 0 is any that is free (default: "+defaultListen+", and none with --tls-listen)")
	f.tls.register(cmd)
	f.limits.register(cmd)
	flags.DurationVar(&f.tick, "tick", native.DefaultTick, "unit of session time-outs")
	flags.StringVar(&f.superDigest, "super-digest", "", "`USER:DIGEST` of who may do everything, the digest the base64 of the SHA-1 of user:password")
	flags.StringVar(&f.dataDir, "data-dir", "", "`DIR` that holds the log of all changes, made if it is not there")
	flags.StringVar(&f.durability, "durability", "", "what was done with a write that is acknowledged: fsync or memory (default: fsync with --data-dir)")
	registerMetrics(flags, &f.metricsAddr)
	complete(cmd, "durability", durabilities)
	for _, name := range []string{"listen", "tick", "super-digest", metricsAddr} {
		complete(cmd, name, func() []string { return nil }) // and no files
	}
	return cmd
}

// errEnded is the result of serving until a signal ended it.
var errEnded = verdict(exitOK, "ended as it was told to")

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	native.BoundGarbage()
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
	kept := "durability memory: it ends with the process"
	if f.dataDir != "" {
		if o.Journal, err = journal.Open(f.dataDir); err != nil {
			return errors.Join(fmt.Errorf("--data-dir: %w", err), l.Close())
		}
		defer o.Journal.Close()
		kept = "durability fsync: it is in " + f.dataDir
	}
	s := native.New(o)
	shown, err := a.expose(ctx, f.metricsAddr, telemetry.Native(s))
	if err != nil {
		s.Close()
		return errors.Join(err, l.Close())
	}
	defer shown.hide(ctx)
	l.warn(a.err)
	fmt.Fprintf(a.out, "serving %v, %s\n%s", l, kept, thisMachine().allows())
	return l.serve(ctx, s)
}

func (f serveFlags) listenAddress() string {
	if f.listen == "" && f.tls.listen == "" {
		return defaultListen
	}
	return f.listen
}

func (f serveFlags) check() error {
	if err := checkListen("listen", f.listen); err != nil {
		return err
	}
	if err := f.tls.check(); err != nil {
		return err
	}
	if err := checkDuration("tick", f.tick, time.Millisecond); err != nil {
		return err
	}
	if err := f.limits.check(f.tick); err != nil {
		return err
	}
	if f.superDigest != "" && !isDigest(f.superDigest) {
		return usagef("--super-digest: not a user, a colon and the base64 of a SHA-1")
	}
	return f.checkDurability()
}

func (f serveFlags) checkDurability() error {
	switch {
	case f.durability != "" && !slices.Contains(durabilities(), f.durability):
		return usage(nearest.Unknown("durability", f.durability, durabilities()))
	case f.durability == native.Fsync && f.dataDir == "":
		return usagef("--durability fsync: say where with --data-dir")
	case f.durability == native.Memory && f.dataDir != "":
		return usagef("--durability memory: nothing would be in --data-dir %s: give one of the two", f.dataDir)
	}
	return nil
}

func durabilities() []string { return []string{native.Fsync, native.Memory} }

// isDigest reports whether s has the form that [native.Digest] returns.
func isDigest(s string) bool {
	user, digest, _ := strings.Cut(s, ":")
	sum, err := base64.StdEncoding.DecodeString(digest)
	return user != "" && err == nil && len(sum) == sha1.Size
}

// reason returns the cause of a network error.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
