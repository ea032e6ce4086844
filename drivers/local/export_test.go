package local

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// Server is the id of the process that serves.
func Server(m drivers.Member) int { return m.(*member).server }

// Proxy is where the member's calls to others go; "" where it calls directly.
func Proxy(m drivers.Member) string { return m.(*member).place.Proxy }

// End waits until the process that was started for the member has ended by itself,
// and returns what it said of why, or nil if it goes on until the context ends.
func End(ctx context.Context, m drivers.Member) error {
	p := m.(*member).process
	select {
	case <-p.Done():
		return p.Stop()
	case <-ctx.Done():
		return nil
	}
}
