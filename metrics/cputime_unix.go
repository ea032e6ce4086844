//go:build unix

package metrics

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration { return processorTime(syscall.RUSAGE_SELF) }

// ended returns the processor time of the children that have ended.
func ended() time.Duration { return processorTime(syscall.RUSAGE_CHILDREN) }

func processorTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0 // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
