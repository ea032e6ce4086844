package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/internal/argument"
)

// A serveEnsemble holds the settings of a server that is a member of an ensemble.
type serveEnsemble struct {
	id         uint64
	peers      string
	secretFile string
	files      certificates.Files
	changed    func(flag string) bool

	addresses map[uint64]string // of all members, by ID
	secret    []byte
}

// ensembleFlags lists the flags that have no effect without --peers.
func ensembleFlags() []string {
	return []string{"id", "peer-secret-file", "peer-cert", "peer-key", "peer-ca"}
}

func (e *serveEnsemble) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint64Var(&e.id, "id", 0, "`N`, the server's number in --peers")
	flags.StringVar(&e.peers, "peers", "", "`1=HOST:PORT,2=…`, all members of the ensemble and where each listens for the others (default: the server is alone)")
	flags.StringVar(&e.secretFile, "peer-secret-file", "", "`FILE` with a secret of at least 16 bytes that all members share")
	flags.StringVar(&e.files.Cert, "peer-cert", "", "PEM `FILE` of the certificate for connections with other members, which then use TLS")
	flags.StringVar(&e.files.Key, "peer-key", "", "PEM `FILE` of its key, which may be the same")
	flags.StringVar(&e.files.ClientCA, "peer-ca", "", "PEM `FILE` of the authorities that sign the members' certificates")
	for _, name := range []string{"id", "peers"} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
}

func (e *serveEnsemble) alone() bool { return e.peers == "" }

func (e *serveEnsemble) check(dataDir string) error {
	if e.alone() {
		for _, name := range ensembleFlags() {
			if e.changed(name) {
				return cli.Usagef("--%s: name all members of the ensemble with --peers", name)
			}
		}
		return nil
	}
	var err error
	if e.addresses, err = parsePeers(e.peers); err != nil {
		return err
	}
	if e.id == 0 {
		return cli.Usagef("--peers: say which of the members this one is with --id: %s", numbers(e.addresses))
	}
	if e.addresses[e.id] == "" {
		return cli.Usagef("--id %d: must be one of --peers: %s", e.id, numbers(e.addresses))
	}
	if dataDir == "" {
		return cli.Usagef("--peers: say where the member keeps its log with --data-dir: a member that forgets it can lose acknowledged writes")
	}
	return e.checkAuthentication()
}

func numbers(addresses map[uint64]string) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(addresses)) {
		all = append(all, fmt.Sprint(id))
	}
	return strings.Join(all, ", ")
}

// leastMembers is the size of the smallest ensemble that survives the loss of a member.
const leastMembers = 3

func parsePeers(text string) (map[uint64]string, error) {
	addresses := map[uint64]string{}
	for part := range strings.SplitSeq(text, ",") {
		number, address, found := strings.Cut(strings.TrimSpace(part), "=")
		id, err := strconv.ParseUint(number, 10, 64)
		if !found || err != nil || id == 0 || id > server.MaxID {
			return nil, cli.Usagef("--peers %s: %q is not a member such as 1=host:2888, with a number from 1 to %d", text, part, server.MaxID)
		}
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "0" || checkListen("peers", address) != nil {
			return nil, cli.Usagef("--peers %s: member %d: %q is not a host and a port such as host:2888", text, id, address)
		}
		for other, known := range addresses {
			if other == id || known == address {
				return nil, cli.Usagef("--peers %s: member %d and %s: numbers and addresses must differ", text, id, address)
			}
		}
		addresses[id] = address
	}
	if len(addresses) < leastMembers || len(addresses)%2 == 0 {
		return nil, cli.Usagef("--peers %s: %d members: must be an odd number, at least %d", text, len(addresses), leastMembers)
	}
	return addresses, nil
}

// leastSecret is the minimum length of a secret in bytes.
const leastSecret = 16

func (e *serveEnsemble) checkAuthentication() error {
	if e.secretFile != "" {
		if e.overTLS() {
			return cli.Usagef("--peer-secret-file and --peer-cert: members use one of the two")
		}
		secret, err := argument.ReadFile(e.secretFile)
		if err != nil {
			return cli.Usagef("--peer-secret-file: %w", err)
		}
		if e.secret = bytes.TrimSpace(secret); len(e.secret) < leastSecret {
			return cli.Usagef("--peer-secret-file %s: %d bytes: must be at least %d", e.secretFile, len(e.secret), leastSecret)
		}
	}
	if !e.overTLS() {
		return nil
	}
	if e.files.ClientCA == "" {
		return cli.Usagef("--peer-cert: name the authorities that sign the members' certificates with --peer-ca")
	}
	if err := e.files.Validate(); err != nil {
		return cli.Usagef("--peer-cert, --peer-key: %w", err)
	}
	return nil
}

func (e *serveEnsemble) overTLS() bool {
	return e.files.Cert != "" || e.files.Key != "" || e.files.ClientCA != ""
}

// tlsConfigs returns the configurations of TLS for connections from and to other members, nil without
// TLS.
func (e *serveEnsemble) tlsConfigs(ctx context.Context, said io.Writer) (accept *tls.Config, dial func() *tls.Config, err error) {
	if !e.overTLS() {
		return nil, nil, nil
	}
	e.files.MinVersion = tls.VersionTLS13
	e.files.Failed = func(err error) {
		fmt.Fprintf(said, "stampede: warning: %v; new connections with members get the certificate that was read before\n", err)
	}
	if accept, dial, err = e.files.Configs(); err != nil {
		return nil, nil, cli.Usage(err)
	}
	go e.warnOfEnd(ctx, said)
	return accept, dial, nil
}

// warnOfEnd warns every day of the last week of the certificate, until the context ends. It reads the certificate anew each time.
func (e *serveEnsemble) warnOfEnd(ctx context.Context, said io.Writer) {
	const week, day = 7 * 24 * time.Hour, 24 * time.Hour
	for again := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
		again = day
		if ends, err := e.files.Ends(); err == nil {
			left := time.Until(ends)
			if left <= week {
				fmt.Fprintf(said, "stampede: warning: %s: the certificate ends at %s: without a new one no member will accept this one then\n",
					e.files.Cert, ends.UTC().Format(time.RFC3339))
			}
			again = max(min(left-week, week), day)
		}
	}
}

// open returns the server and its log.
func (e *serveEnsemble) open(ctx context.Context, o server.Options, dataDir string, said io.Writer) (*server.Server, *raftlog.Log, error) {
	accept, dial, err := e.tlsConfigs(ctx, said)
	if err != nil {
		return nil, nil, err
	}
	own := e.addresses[e.id]
	l, err := net.Listen("tcp", own)
	if err != nil {
		return nil, nil, fmt.Errorf("--peers %d=%s: cannot listen there: %w", e.id, own, cli.WithoutAddress(err))
	}
	log, err := raftlog.Open(dataDir, raftlog.Member{ID: e.id, Voters: slices.Sorted(maps.Keys(e.addresses))})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--data-dir: %w", err), l.Close())
	}
	s, err := server.NewMember(o, server.Ensemble{ID: e.id, Addresses: e.addresses, Listener: l, Secret: e.secret, Server: accept, Client: dial,
		Log: log, Report: func(err error) { fmt.Fprintf(said, "stampede: %v\n", err) }})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close(), l.Close())
	}
	e.warn(l, said)
	return s, log, nil
}

// warn prints a warning if anyone on the network can act as a member.
func (e *serveEnsemble) warn(l net.Listener, said io.Writer) {
	if e.secret == nil && !e.overTLS() && (serveListener{Listener: l}).reachable() {
		fmt.Fprintf(said, "stampede: warning: --peers %d=%v: no authentication: anyone on the network can act as a member; "+
			"use --peer-secret-file, or --peer-cert with --peer-ca\n", e.id, l.Addr())
	}
}

// String returns "member 1 of 3".
func (e *serveEnsemble) String() string {
	return fmt.Sprintf("member %d of %d", e.id, len(e.addresses))
}
