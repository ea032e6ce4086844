package local

import "github.com/stampede-bench/stampede/drivers"

// Server is the id of the process that serves.
func Server(m drivers.Member) int { return m.(*member).server }

// Proxy is where the member's calls to others go; "" where it calls directly.
func Proxy(m drivers.Member) string { return m.(*member).place.Proxy }
