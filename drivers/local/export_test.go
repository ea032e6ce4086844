package local

import "github.com/stampede-bench/stampede/drivers"

// Server is the id of the process that serves.
func Server(m drivers.Member) int { return m.(*member).server }
