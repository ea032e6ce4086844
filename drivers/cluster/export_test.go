package cluster

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// Proxy returns the proxy for the member's connections to others; "" if it connects directly.
func Proxy(m drivers.Member) string { return m.(*member).place.Proxy }

// End waits until the member's child process has ended by itself and returns its error, or nil if
// the context ends first.
func End(ctx context.Context, m drivers.Member) error {
	p := m.(*member).process
	select {
	case <-p.Done():
		return p.Stop()
	case <-ctx.Done():
		return nil
	}
}
