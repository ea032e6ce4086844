package ensemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
)

// Leads asks a server whether it is the leader. A standalone server is the leader.
func Leads(ctx context.Context, address string) (bool, error) {
	return LeadsOver(nil)(ctx, address)
}

// LeadsOver returns Leads for servers that are connected to over TLS.
func LeadsOver(encryption *tls.Config) func(ctx context.Context, address string) (bool, error) {
	return func(ctx context.Context, address string) (bool, error) {
		e, err := New(Config{Servers: []string{address}, TLS: encryption})
		if err != nil {
			return false, err
		}
		return e.leads(ctx, e.Servers[0])
	}
}

// errNoRole is the error for a ZooKeeper server that is looking for a leader.
var errNoRole = errors.New("it is neither leader nor follower just now")

func (e *Ensemble) leads(ctx context.Context, address string) (bool, error) {
	text, err := e.Word(ctx, address, "srvr")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(text) {
		if mode, found := strings.CutPrefix(line, "Mode: "); found {
			mode = strings.TrimSpace(mode)
			return mode == "leader" || mode == "standalone", nil
		}
	}
	return false, fmt.Errorf("%s: srvr: %w", address, errNoRole)
}
