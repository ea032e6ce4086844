package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/net/proxy"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
)

// runMember serves as one of several members.
func runMember(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) (err error) {
	e := Ensemble{ID: uint64(p.Number), Addresses: map[uint64]string{}}
	var voters []uint64
	for i, m := range p.Members {
		id := uint64(i + 1)
		voters, e.Addresses[id] = append(voters, id), m.Peers
	}
	if e.Secret, err = os.ReadFile(p.Secret); err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	if p.Proxy != "" {
		if e.Dial, err = dialThrough(p.Proxy); err != nil {
			return fmt.Errorf("native server: %w", err)
		}
	}
	if e.Log, err = raftlog.Open(p.Dir, raftlog.Member{ID: e.ID, Voters: voters}); err != nil {
		return err
	}
	return errors.Join(serveMember(ctx, o, e, p, announce), e.Log.Close())
}

func serveMember(ctx context.Context, o Options, e Ensemble, p cluster.Place, announce func(pid string)) (err error) {
	if e.Listener, err = net.Listen("tcp", p.Own().Peers); err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	s, err := NewMember(o, e)
	if err != nil {
		return errors.Join(err, e.Listener.Close())
	}
	return run(ctx, s, p, announce)
}

// dialThrough returns a function that connects through a SOCKS5 proxy.
func dialThrough(address string) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	d, err := proxy.SOCKS5("tcp", address, nil, proxy.Direct)
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext, nil
}
