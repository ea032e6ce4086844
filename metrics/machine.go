package metrics

import (
	"os"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// A Machine says which programs used this machine's processors in a window. Values are
// averages, in seconds of processor time per second.
type Machine struct {
	Cores   int     // processors that the machine has
	Busy    float64 // used by all programs and by the kernel
	Started float64 // used by the processes that this one started: the servers of a run
	Others  float64 // used by programs that are neither this process nor started by it
	Stolen  float64 // given to other machines by the hypervisor
	// Waiting is the mean number of this process's threads that were ready to run and had no
	// processor.
	Waiting float64
}

// A usage is a snapshot of the kernel's counters, in seconds.
type usage struct {
	at      time.Time
	cores   int
	idle    float64         // of all processors together
	stolen  float64         // taken by the hypervisor for other machines
	kernel  float64         // in interrupts, which belong to no program
	self    float64         // this process
	started float64         // its children and all their descendants
	waiting map[int]float64 // by thread of this process: time ready to run without a processor
}

// readUsage reads the kernel's counters. It returns nil where the kernel does not provide them,
// for example outside Linux.
func readUsage() *usage {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	stat, err := proc.Stat()
	if err != nil {
		return nil
	}
	all := stat.CPUTotal
	u := usage{
		at: time.Now(), cores: len(stat.CPU), idle: all.Idle + all.Iowait, stolen: all.Steal, kernel: all.IRQ + all.SoftIRQ,
		self: cpuTime().Seconds(), waiting: threadsWaited(),
	}
	u.started, err = startedTime(proc)
	if err != nil {
		return nil
	}
	return &u
}

// since returns the usage between an earlier reading and u, or nil if either is missing.
func (u *usage) since(before *usage) *Machine {
	if u == nil || before == nil {
		return nil
	}
	took := u.at.Sub(before.at).Seconds()
	if took <= 0 {
		return nil
	}
	m := Machine{Cores: u.cores, Stolen: max(u.stolen-before.stolen, 0) / took}
	m.Busy = max(float64(u.cores)-m.Stolen-(u.idle-before.idle)/took, 0)
	m.Started = max(u.started-before.started, 0) / took
	m.Others = max(m.Busy-m.Started-(u.self-before.self+u.kernel-before.kernel)/took, 0)
	for id, waited := range u.waiting {
		m.Waiting += (waited - before.waiting[id]) / took
	}
	return &m
}

// startedTime returns the processor time of all descendants of this process, including those
// that have ended.
func startedTime(proc procfs.FS) (float64, error) {
	all, err := proc.AllProcs()
	if err != nil {
		return 0, err
	}
	used, children := map[int]float64{}, map[int][]int{}
	for _, p := range all {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		used[s.PID] = s.CPUTime() + float64(s.CUTime+s.CSTime)/ticksPerSecond
		children[s.PPID] = append(children[s.PPID], s.PID)
	}
	sum := ended().Seconds()
	for next := children[os.Getpid()]; len(next) > 0; {
		pid := next[0]
		sum += used[pid]
		next = append(next[1:], children[pid]...)
	}
	return sum, nil
}

// ticksPerSecond is the unit of /proc/PID/stat on every platform that Go supports.
const ticksPerSecond = 100

// ended returns the processor time of the children that have ended.
func ended() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0 // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadsWaited returns, by thread of this process, the seconds for which the thread was ready
// to run and had no processor. It is empty where the kernel does not count this time.
func threadsWaited() map[int]float64 {
	threads, err := procfs.AllThreads(os.Getpid())
	if err != nil {
		return nil
	}
	waited := make(map[int]float64, len(threads))
	for _, t := range threads {
		if s, err := t.Schedstat(); err == nil {
			waited[t.PID] = float64(s.WaitingNanoseconds) / 1e9
		}
	}
	return waited
}
