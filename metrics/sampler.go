package metrics

import (
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/procfs"

	"github.com/stampede-bench/stampede/drivers/traffic/owner"
)

// A Sampler observes the load generator (this process) and the machine around it. A generator
// that is short of processor time measures itself instead of the service.
type Sampler struct {
	began  time.Time
	cpu    time.Duration // at the start
	before *usage        // at the start
	serves owner.Service // the processes on this machine that serve this one, at the start
	pause  time.Duration // at the start
	stop   chan struct{}
	done   chan struct{} // closed when sampling of the lag has ended

	mu  sync.Mutex
	lag *hdrhistogram.Histogram
}

// lagEvery is how often the schedule lag is sampled.
const lagEvery = 10 * time.Millisecond

// StartSampler starts sampling. The caller must call Stop. It says what serves this process: to find that takes
// milliseconds, so it is done before the window.
func StartSampler(serves owner.Service) *Sampler {
	s := &Sampler{
		began:  time.Now(),
		cpu:    cpuTime(),
		before: readUsage(serves),
		serves: serves,
		pause:  gcPause(),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		lag:    NewDurations(),
	}
	go s.sampleLag()
	return s
}

// Stop ends sampling and returns the results since the start. It must be called only once.
func (s *Sampler) Stop() Generator {
	close(s.stop)
	<-s.done
	return s.read(s.serves)
}

// SoFar returns the results from the start until now. It may be called from any goroutine.
func (s *Sampler) SoFar() Generator {
	return s.read(owner.Service{Processes: s.serves.Processes})
}

func (s *Sampler) read(serves owner.Service) Generator {
	// On a machine with many processes this read takes milliseconds. It happens before the
	// lock, so that sampling of the lag continues.
	machine := readUsage(serves).usedSince(s.before)
	if machine != nil && serves.Unknown != s.serves.Unknown { // it takes too long to read all threads again and again
		machine.Kept = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Generator{Lag: s.lag.Clone(), GCPause: gcPause() - s.pause, CPUCores: s.CPUCores(), Machine: machine}
}

// CPUCores returns the processor time used since the start, per second of elapsed time.
func (s *Sampler) CPUCores() float64 {
	took := time.Since(s.began)
	if took <= 0 {
		return 0
	}
	return float64(cpuTime()-s.cpu) / float64(took)
}

// sampleLag records how late timers fire. Every due time counts, including those that passed
// while the goroutine could not run: a long stall is many late wake-ups, not one.
func (s *Sampler) sampleLag() {
	defer close(s.done)
	due := time.Now().Add(lagEvery)
	timer := time.NewTimer(lagEvery)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-timer.C:
		}
		s.mu.Lock()
		for now := time.Now(); !due.After(now); due = due.Add(lagEvery) {
			RecordDuration(s.lag, now.Sub(due))
		}
		s.mu.Unlock()
		timer.Reset(time.Until(due))
	}
}

// gcPause returns the total time for which the garbage collector has stopped this process.
//
// Note: runtime/metrics provides it only as a histogram of seconds, whose sum is an estimate;
// this value is exact.
func gcPause() time.Duration {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return stats.PauseTotal
}

// A Machine says which programs used, in a window, the processors that this process and those that it
// started may use. Values are averages, in seconds of processor time per second.
type Machine struct {
	Cores   float64 // how many those are: by affinity, cpuset and the quota of the control group
	Busy    float64 // not free: used by all programs and by the kernel, or beyond the quota
	Started float64 // used by the processes that this one started: the servers of a run
	Service float64 // used by the other processes that serve this one: the service, if it runs on this machine
	Others  float64 // used by programs that are none of these
	Stolen  float64 // given to other machines by the hypervisor
	// Waiting is the mean number of this process's threads that were ready to run and had no
	// processor.
	Waiting float64
	// Kept is the mean number of threads that were ready to run and had no processor, of this process and of those that
	// serve it: at most for this share of the time something kept them from running. Where not all of these
	// are known, it is of all programs. It is nil if it is not known.
	Kept *float64
	// StartedResident is the memory of the processes that this one started, at the end of the window, and
	// StartedWritten what they had the disk write in the window, both in bytes.
	StartedResident int64
	StartedWritten  int64
}

// A usage is a snapshot of the kernel's counters, in seconds.
type usage struct {
	at      time.Time
	may     processors
	cpus    map[int64]procfs.CPUStat // by processor
	self    float64                  // this process
	started family                   // its children and all their descendants
	waiting map[int]float64          // by thread of this process: time ready to run without a processor
	serving map[int]float64          // by process that serves this one: processor time
	kept    map[int]float64          // as waiting, of all threads that the run depends on; nil if not known
}

// readUsage reads the kernel's counters. It returns nil where the kernel does not provide them,
// for example outside Linux.
func readUsage(serves owner.Service) *usage {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	stat, at, err := statNow(proc)
	if err != nil {
		return nil
	}
	u := usage{at: at, may: processorsOf(proc, "/"), cpus: stat.CPU, self: cpuTime().Seconds(), waiting: map[int]float64{}, serving: map[int]float64{}}
	addWaited(u.waiting, proc, os.Getpid())
	processes, err := proc.AllProcs()
	if err != nil {
		return nil
	}
	var family []int
	u.started, family = startedBy(processes)
	u.kept = maps.Clone(u.waiting)
	for _, p := range processes {
		serving := slices.Contains(serves.Processes, p.PID) && !slices.Contains(family, p.PID)
		if serving {
			if stat, err := p.Stat(); err == nil {
				u.serving[p.PID] = stat.CPUTime()
			}
		}
		if serving || slices.Contains(family, p.PID) || serves.Unknown {
			addWaited(u.kept, proc, p.PID)
		}
	}
	return &u
}

// statNow returns the kernel's counters of processor time and when they were read. It reads them
// again, up to ten times, if the reading was interrupted: the time in between would count as used
// or as idle by mistake, on every processor.
func statNow(proc procfs.FS) (stat procfs.Stat, at time.Time, err error) {
	const prompt = 2 * time.Millisecond
	for range 10 {
		began := time.Now()
		stat, err = proc.Stat()
		at = time.Now()
		if err != nil || at.Sub(began) <= prompt {
			break
		}
	}
	return stat, at, err
}

// usedSince returns the usage between an earlier reading and u, or nil if either is missing.
func (u *usage) usedSince(before *usage) *Machine {
	if u == nil || before == nil {
		return nil
	}
	took := u.at.Sub(before.at).Seconds()
	if took <= 0 {
		return nil
	}
	all := u.sharedWith(before)
	var idle, kernel, stolen float64 // kernel: in interrupts, which belong to no program
	for _, n := range all {
		now, then := u.cpus[n], before.cpus[n]
		idle += now.Idle + now.Iowait - then.Idle - then.Iowait
		kernel += now.IRQ + now.SoftIRQ - then.IRQ - then.SoftIRQ
		stolen += now.Steal - then.Steal
	}
	cores := float64(len(all))
	m := Machine{Cores: cores, Stolen: max(stolen, 0) / took}
	m.Busy = max(cores-m.Stolen-idle/took, 0)
	m.Started = max(u.started.time-before.started.time, 0) / took
	m.StartedResident, m.StartedWritten = u.started.resident, max(u.started.written-before.started.written, 0)
	for pid, used := range u.serving {
		if then, known := before.serving[pid]; known {
			m.Service += (used - then) / took
		}
	}
	own := m.Started + m.Service + (u.self-before.self)/took
	m.Others = max(m.Busy-own-kernel/took, 0)
	if q := u.may.quota; q < cores {
		m.Cores = q
		if used := (u.may.used - before.may.used) / took; used > 0 && q-used < cores-m.Busy {
			m.Busy, m.Others = used, max(used-own, 0)
		} else {
			m.Busy = max(q-(cores-m.Busy), 0)
		}
	}
	m.Waiting = waitedSince(u.waiting, before.waiting) / took
	if len(u.kept) > 0 {
		kept := waitedSince(u.kept, before.kept) / took
		m.Kept = &kept
	}
	return &m
}

// sharedWith returns the processors that this process might use at the time of either reading: they change in
// between where the process is moved.
func (u *usage) sharedWith(before *usage) (all []int64) {
	for n := range u.cpus {
		if slices.Contains(u.may.allowed, int(n)) || slices.Contains(before.may.allowed, int(n)) {
			all = append(all, n)
		}
	}
	if len(all) < len(u.may.allowed) { // a container that numbers what it shows of the machine anew
		all = slices.Collect(maps.Keys(u.cpus))
	}
	return all
}

// A family is what all descendants of this process use together.
type family struct {
	time     float64 // processor time in seconds, including that of processes that have ended
	resident int64   // bytes
	written  int64   // bytes that the disk was to write; of a process that has ended, nothing
}

// startedBy returns the usage of all descendants of this process, and which processes they are.
func startedBy(all procfs.Procs) (sum family, processes []int) {
	stats, children := map[int]procfs.ProcStat{}, map[int][]procfs.Proc{}
	for _, p := range all {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		stats[s.PID] = s
		children[s.PPID] = append(children[s.PPID], p)
	}
	sum.time = ended().Seconds()
	for next := children[os.Getpid()]; len(next) > 0; {
		p := next[0]
		s := stats[p.PID]
		sum.time += s.CPUTime() + float64(s.CUTime+s.CSTime)/ticksPerSecond
		sum.resident += int64(s.ResidentMemory())
		if io, err := p.IO(); err == nil {
			sum.written += int64(io.WriteBytes)
		}
		processes, next = append(processes, p.PID), append(next[1:], children[p.PID]...)
	}
	return sum, processes
}

// ticksPerSecond is the unit of /proc/PID/stat on every platform that Go supports.
const ticksPerSecond = 100

// addWaited adds, by thread of the process, the seconds for which the thread was ready to run and had no processor. It
// adds none where the kernel does not count this time.
func addWaited(waited map[int]float64, proc procfs.FS, pid int) {
	threads, err := proc.AllThreads(pid)
	if err != nil {
		return
	}
	for _, t := range threads {
		if s, err := t.Schedstat(); err == nil {
			waited[t.PID] = float64(s.WaitingNanoseconds) / 1e9
		}
	}
}

// waitedSince returns how long the threads have waited since an earlier reading.
func waitedSince(now, before map[int]float64) (sum float64) {
	for id, waited := range now {
		sum += waited - before[id]
	}
	return sum
}
