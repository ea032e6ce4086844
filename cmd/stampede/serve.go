package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/native"
)

// A serveFlags is what a person asked of stampede serve.
type serveFlags struct {
	listen      string
	tick        time.Duration
	superDigest string
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the native server by itself",
		Long: `Serve runs the native server, which speaks ZooKeeper's protocol, by itself until
it is told to end by SIGINT or SIGTERM. It keeps everything in memory: what it
holds is gone with it.`,
		Example: `  stampede serve --listen 127.0.0.1:2181`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.serve(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:2181", "`HOST:PORT` to serve on; port 0 is any that is free")
	flags.DurationVar(&f.tick, "tick", native.DefaultTick, "unit of session time-outs, which lie between 2 and 20 of them")
	flags.StringVar(&f.superDigest, "super-digest", "", "`USER:DIGEST` of who may do everything, the digest the base64 of the SHA-1 of user:password")
	for _, name := range []string{"listen", "tick", "super-digest"} {
		complete(cmd, name, func() []string { return nil }) // and no files
	}
	return cmd
}

// errEnded is how serving ends when all is well.
var errEnded = verdict(exitOK, "ended as it was told to")

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: cannot serve there: %w", f.listen, reason(err))
	}
	s := native.New(native.Options{Tick: f.tick, SuperDigest: f.superDigest})
	defer s.Close()
	defer context.AfterFunc(ctx, s.Close)()
	fmt.Fprintf(a.out, "serving on %v, durability memory: it ends with the process\n", l.Addr())
	if err := s.Serve(l); err != nil {
		return err
	}
	return errEnded
}

func (f serveFlags) check() error {
	_, port, err := net.SplitHostPort(f.listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usagef("--listen %s: not a host and a port such as 127.0.0.1:2181", f.listen)
	}
	if err := checkDuration("tick", f.tick, time.Millisecond); err != nil {
		return err
	}
	if f.superDigest != "" && !isDigest(f.superDigest) {
		return usagef("--super-digest: not a user, a colon and the base64 of a SHA-1")
	}
	return nil
}

// isDigest tells whether s is what [native.Digest] returns.
func isDigest(s string) bool {
	user, digest, _ := strings.Cut(s, ":")
	sum, err := base64.StdEncoding.DecodeString(digest)
	return user != "" && err == nil && len(sum) == sha1.Size
}

// reason is what an error of the network comes down to.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
