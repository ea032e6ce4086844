package main

import (
	"crypto/tls"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
)

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

// applicationProtocols returns the protocols that a service's clients and servers negotiate in TLS:
// gRPC needs HTTP/2.
func applicationProtocols(scheme string) []string {
	if scheme == "etcd" {
		return []string{"h2"}
	}
	return nil
}
