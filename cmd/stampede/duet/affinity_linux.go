package duet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// mostProcessors is the size of unix.CPUSet.
const mostProcessors = 1024

// Processors returns the processors that this process may use.
func Processors() (all []Processor, err error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &allowed); err != nil {
		return nil, fmt.Errorf("read the processors that this process may use: %w", err)
	}
	for cpu := range mostProcessors {
		if allowed.IsSet(cpu) {
			all = append(all, Processor{Number: cpu, Socket: topology(cpu, "physical_package_id", 0), Core: topology(cpu, "core_id", cpu)})
		}
	}
	return all, nil
}

// topology reads one number about a processor. It returns the default where the kernel does not have it,
// as in some containers.
func topology(cpu int, name string, otherwise int) int {
	text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name))
	if err != nil {
		return otherwise
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		return n
	}
	return otherwise
}

func set(processors []int) *unix.CPUSet {
	var s unix.CPUSet
	for _, cpu := range processors {
		s.Set(cpu)
	}
	return &s
}

// restricted calls a function that starts a process, which may use only these processors from its
// first instruction on: a new process inherits the processors of the thread that starts it.
func restricted(to []int, start func() error) error {
	runtime.LockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	if err := unix.SchedSetaffinity(0, set(to)); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("restrict to processors %v: %w", to, err)
	}
	err := start()
	if e := unix.SchedSetaffinity(0, &before); e != nil {
		return errors.Join(err, e) // the thread stays locked, and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// Move restricts a process and all its descendants to these processors. A thread or a process may
// start while it works and inherit the processors from before, so it repeats until it finds nothing
// to move. It ignores what has ended.
func Move(pid int, to []int) error {
	for moved := true; moved; {
		family, err := familyOf(pid)
		if err != nil {
			return err
		}
		moved = false
		for _, p := range family {
			m, err := moveThreads(p, set(to))
			if err != nil {
				return fmt.Errorf("restrict process %d to processors %v: %w", p, to, err)
			}
			moved = moved || m
		}
	}
	return nil
}

// familyOf returns the process and all its descendants.
func familyOf(pid int) (family []int, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	all, err := proc.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, p := range all {
		if s, err := p.Stat(); err == nil {
			children[s.PPID] = append(children[s.PPID], s.PID)
		}
	}
	family = []int{pid}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family, nil
}

// moveThreads moves the threads of a process that are elsewhere, and reports whether there were any.
func moveThreads(pid int, to *unix.CPUSet) (moved bool, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return false, err
	}
	for _, path := range threads {
		id, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return moved, err
		}
		var now unix.CPUSet
		err = unix.SchedGetaffinity(id, &now)
		if err == nil && now != *to {
			moved, err = true, unix.SchedSetaffinity(id, to)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return moved, err
		}
	}
	return moved, nil
}
