//go:build unix

// Package openfiles says how many files this process may have open.
package openfiles

import (
	"math"
	"syscall"
)

// Limit returns how many files this process may have open, [math.MaxUint64] if that is not known. The Go
// runtime has already raised the soft limit, so the hard limit is what counts.
func Limit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur) // signed on some systems
}
