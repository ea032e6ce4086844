package metrics

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0 // cannot fail
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0 // cannot fail with these arguments
	}
	return duration(kernel) + duration(user)
}

// duration returns a duration that Windows counts in units of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return 100 * time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime))
}

// ended returns 0: this process starts no servers on Windows.
func ended() time.Duration { return 0 }
