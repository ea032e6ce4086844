package main

import (
	"crypto/tls"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
)

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
