package cluster

import "golang.org/x/sys/unix"

// limitsOthers reports whether one process can set the limits of another.
const limitsOthers = true

// letGrowNothing sets a process's file size limit to 0, so that every write to a file fails, at any
// offset. It has the effect of a full disk and needs no separate disk.
func letGrowNothing(pid int) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return err
	}
	limit.Cur = 0
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
}
