package ensemble_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A staleConn believes that it has a session, on a connection that its server does not answer.
type staleConn struct {
	drivers.Conn
	cuts int
}

func (*staleConn) Granted() wire.ConnectResponse {
	return wire.ConnectResponse{Timeout: 10_000, SessionID: 42, Password: make([]byte, 16)}
}

func (c *staleConn) Cut() { c.cuts++ }

// TestExpireMakesTheClientConnectAgain checks that a client whose session is gone at the service loses the
// connection that it has, on which it might never learn that.
func TestExpireMakesTheClientConnectAgain(t *testing.T) {
	s := server.New(server.Options{Tick: time.Second})
	defer s.Close()
	e, err := ensemble.New(ensemble.Config{Servers: []string{"in-process"},
		Dial: func(context.Context, string) (net.Conn, error) { return s.Dial("", "", 0) }})
	if err != nil {
		t.Fatal(err)
	}
	c := &staleConn{}
	if err := e.Expire(t.Context(), c); err != nil || c.cuts != 1 {
		t.Errorf("%v, %d cuts; want one", err, c.cuts)
	}
}
