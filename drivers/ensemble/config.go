package ensemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// Config says where a ZooKeeper service is.
type Config struct {
	// Servers are addresses, host:port or just the host for port 2181.
	Servers []string
	// Chroot is the node below which sessions work, "" for the root. It must exist.
	Chroot string
	// TLS, if set, configures encryption. If it has no ServerName, a server needs a
	// certificate for the host of its address.
	TLS *tls.Config
	// Username and Password are the digest credentials of every session. Only sessions with
	// these credentials can access the nodes that it creates.
	Username string
	Password drivers.Secret
	// SyncReads makes a sync before every read of a [drivers.Conn], so that the read shows
	// every write acknowledged to any client before it, on an ensemble too. At the leader,
	// ZooKeeper's sync may fall slightly short of that: see [Ensemble.Shown].
	SyncReads bool
	// Clients chooses the servers of sessions, one of [balancer.Names]; "" means all servers in
	// turn.
	Clients string
	// Dial connects to a server; nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

const defaultPort = "2181"

// Validate returns an error that names the invalid field.
func (c Config) Validate() error {
	if len(c.Servers) == 0 {
		return errors.New("servers: name at least one address, host:port")
	}
	for _, s := range c.Servers {
		if s == "" {
			return errors.New("servers: an address is empty, want host:port")
		}
	}
	if c.Chroot != "" && (c.Chroot[0] != '/' || strings.HasSuffix(c.Chroot, "/")) {
		return fmt.Errorf("chroot %q: must begin with a slash and not end with one", c.Chroot)
	}
	if (c.Username == "") != (c.Password == "") {
		return errors.New("username and password: one does not go without the other")
	}
	if strings.Contains(c.Username, ":") {
		return errors.New("username: must have no colon in it")
	}
	return nil
}

// addresses returns the servers' addresses with ports.
func (c Config) addresses() []string {
	var all []string
	for _, a := range c.Servers {
		if _, _, err := net.SplitHostPort(a); err != nil {
			a = net.JoinHostPort(strings.Trim(a, "[]"), defaultPort)
		}
		all = append(all, a)
	}
	return all
}
