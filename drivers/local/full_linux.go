package local

import "golang.org/x/sys/unix"

// limitsOthers: one process can set the limits of another.
const limitsOthers = true

// letGrowNothing limits the files that a process writes to no length at all, so that
// every write to one fails, wherever in it. A full disk would do no more to it, and
// needs a disk of its own.
func letGrowNothing(pid int) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return err
	}
	limit.Cur = 0
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
}
