package ensemble

import (
	"context"
	"fmt"
	"net"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Granter is a session of a client for ZooKeeper.
type Granter interface {
	// Granted returns what the service granted when it opened the session.
	Granted() wire.ConnectResponse
}

// Holds reports whether the service keeps a session, which may have been opened at other addresses or below
// another chroot. It resumes the session on a new connection, and closes only the connection. That needs no
// permissions. Another service rejects the session: it knows neither its id nor its password.
func (e *Ensemble) Holds(ctx context.Context, c drivers.Conn) (bool, error) {
	g, ok := c.(Granter)
	if !ok {
		return false, nil // of another kind of service
	}
	var failed error
	for try := range max(len(e.Servers), holdTries) {
		held, err := e.holds(ctx, e.Servers[try%len(e.Servers)], g.Granted())
		if err == nil {
			return held, nil
		}
		failed = err
	}
	return false, fmt.Errorf("%s: %w", e.Name(), failed)
}

// holdTries is how often servers are asked until one answers. One that keeps the session does not answer if
// the session's client takes the session back at the same time.
const holdTries = 20

// holds asks one server.
func (e *Ensemble) holds(ctx context.Context, server string, session wire.ConnectResponse) (held bool, err error) {
	err = e.onConnection(ctx, server, func(nc net.Conn) error {
		granted, err := reopen(nc, session)
		held = granted.Timeout > 0
		return err
	})
	return held, err
}
