package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
)

// A serveListener is one address of a server.
type serveListener struct {
	net.Listener
	flag string
	tls  *tls.Config // nil without TLS
	open bool        // to clients without a certificate
}

// A serveListeners holds all addresses of a server.
type serveListeners []serveListener

// open listens at the addresses that the flags name. cfg is the TLS configuration, or nil.
func (f serveFlags) open(cfg *tls.Config) (all serveListeners, err error) {
	if f.listen != "" {
		all, err = all.add(f.listen, serveListener{flag: "listen", open: true})
	}
	if err == nil && cfg != nil {
		all, err = all.add(f.tls.listen, serveListener{flag: tlsListen, tls: cfg, open: f.tls.files.ClientCA == ""})
	}
	return all, err
}

func (all serveListeners) add(address string, l serveListener) (serveListeners, error) {
	var err error
	if l.Listener, err = net.Listen("tcp", address); err != nil {
		return nil, errors.Join(fmt.Errorf("--%s %s: cannot serve there: %w", l.flag, address, cli.WithoutAddress(err)), all.Close())
	}
	return append(all, l), nil
}

// Close closes the listeners that no server has taken over yet.
func (all serveListeners) Close() error {
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Listener.Close())
	}
	return errors.Join(errs...)
}

// String returns "on 127.0.0.1:2181 and over TLS on 127.0.0.1:2281".
func (all serveListeners) String() string {
	var parts []string
	for _, l := range all {
		part := fmt.Sprintf("on %v", l.Addr())
		if l.tls != nil {
			part = "over TLS " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " and ")
}

// reachable reports whether clients on other machines can reach the address.
func (l serveListener) reachable() bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return !ok || !a.IP.IsLoopback()
}

func (all serveListeners) reachable() bool {
	return slices.ContainsFunc(all, serveListener.reachable)
}

// warn prints a warning for each address that clients on other machines can reach without TLS or
// without a certificate.
func (all serveListeners) warn(w io.Writer) {
	for _, l := range all {
		switch {
		case !l.reachable():
		case l.tls == nil:
			fmt.Fprintf(w, "stampede: warning: --%s %v: no TLS: anyone on the network can connect, and read the traffic of others; "+
				"use --%s with --tls-client-ca, or an address of this machine alone\n", l.flag, l.Addr(), tlsListen)
		case l.open:
			fmt.Fprintf(w, "stampede: warning: --%s %v: no authentication: anyone on the network can connect; "+
				"use --tls-client-ca\n", l.flag, l.Addr())
		}
	}
}

// serve returns errEnded if the server served at every address until the context ended, also if it
// ended before the server had begun to accept.
func (all serveListeners) serve(ctx context.Context, s *server.Server) error {
	defer s.Close()
	defer context.AfterFunc(ctx, s.Close)()
	ended := make(chan error, len(all))
	for _, l := range all {
		go func() {
			if l.tls != nil {
				ended <- s.ServeTLS(l.Listener, l.tls)
			} else {
				ended <- s.Serve(l.Listener)
			}
		}()
	}
	err := <-ended
	s.Close() // if one address fails, the others end too
	for range len(all) - 1 {
		err = cmp.Or(err, <-ended)
	}
	if err != nil && (ctx.Err() == nil || !errors.Is(err, net.ErrClosed)) {
		return err
	}
	return errEnded
}

// checkListen checks an address. It accepts "", which means no address.
func checkListen(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil && address != "" {
		return cli.Usagef("--%s %s: not a host and a port such as %s", flag, address, defaultListen)
	}
	return nil
}

const tlsListen = "tls-listen"

// A serveTLS holds the TLS settings of stampede serve.
type serveTLS struct {
	listen     string
	files      certificates.Files
	minVersion string
	changed    func(flag string) bool // whether a flag is on the command line; variables do not count
}

// tlsFlags lists the flags that have no effect without --tls-listen.
func tlsFlags() []string { return []string{"tls-cert", "tls-key", "tls-client-ca", "tls-min-version"} }

func (s *serveTLS) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.listen, tlsListen, "", "`HOST:PORT` to serve on over TLS")
	flags.StringVar(&s.files.Cert, "tls-cert", "", "PEM `FILE` of the server's certificate")
	flags.StringVar(&s.files.Key, "tls-key", "", "PEM `FILE` of its key, which may be the same")
	flags.StringVar(&s.files.ClientCA, "tls-client-ca", "", "PEM `FILE` of the authorities that sign clients' certificates; every client must have one")
	flags.StringVar(&s.minVersion, "tls-min-version", "1.2", "lowest `VERSION` of TLS: 1.2 or 1.3")
	cli.Complete(cmd, tlsListen, func() []string { return nil })
	cli.Complete(cmd, "tls-min-version", tlsVersions)
}

func tlsVersions() []string { return []string{"1.2", "1.3"} }

func (s *serveTLS) check() error {
	if s.listen == "" {
		for _, name := range tlsFlags() {
			if s.changed(name) {
				return cli.Usagef("--%s: say where to serve over TLS with --%s", name, tlsListen)
			}
		}
		return nil
	}
	if err := checkListen(tlsListen, s.listen); err != nil {
		return err
	}
	switch s.minVersion {
	case "1.2":
		s.files.MinVersion = tls.VersionTLS12
	case "1.3":
		s.files.MinVersion = tls.VersionTLS13
	default:
		return cli.Flagf("tls-min-version", "%s: want 1.2 or 1.3", s.minVersion)
	}
	if err := s.files.Validate(); err != nil {
		return cli.Usagef("--%s %s: %w", tlsListen, s.listen, err)
	}
	return nil
}

// config returns the TLS configuration, nil without TLS. If the certificate files change and cannot
// be used, the configuration writes a warning to said.
func (s *serveTLS) config(said io.Writer) (*tls.Config, error) {
	if s.listen == "" {
		return nil, nil
	}
	s.files.Failed = func(err error) {
		fmt.Fprintf(said, "stampede: warning: %v; new connections get the certificate that was read before\n", err)
	}
	cfg, err := s.files.Config()
	if err != nil {
		return nil, cli.Usage(err)
	}
	return cfg, nil
}
