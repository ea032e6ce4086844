package metrics

import (
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Sampler observes the load generator (this process) and the machine around it. A generator
// that is short of processor time measures itself instead of the service.
type Sampler struct {
	began  time.Time
	cpu    time.Duration // at the start
	before *usage        // at the start
	pause  time.Duration // at the start
	stop   chan struct{}
	done   chan struct{} // closed when sampling of the lag has ended

	mu  sync.Mutex
	lag *hdrhistogram.Histogram
}

// lagEvery is how often the schedule lag is sampled.
const lagEvery = 10 * time.Millisecond

// StartSampler starts sampling. The caller must call Stop.
func StartSampler() *Sampler {
	s := &Sampler{
		began:  time.Now(),
		cpu:    cpuTime(),
		before: readUsage(),
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
	return s.SoFar()
}

// SoFar returns the results from the start until now. It may be called from any goroutine.
func (s *Sampler) SoFar() Generator {
	// On a machine with many processes this read takes milliseconds. It happens before the
	// lock, so that sampling of the lag continues.
	machine := readUsage().since(s.before)
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

// Cores returns the number of processors that this process may use at the same time.
func Cores() int { return runtime.GOMAXPROCS(0) }

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

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
