package metrics

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// burn is the environment variable that turns this test binary into a process that uses
// processor time: it uses the amount given in the variable, prints a line, waits until its
// standard input ends, and exits.
const burn = "STAMPEDE_TEST_BURN"

// fillFile is the environment variable with the path of a file that such a process first fills with as
// many bytes as it keeps in memory.
const fillFile = "STAMPEDE_TEST_FILL"

const filled = 32 << 20

// fill writes bytes to the disk and returns them. It does nothing without a path.
func fill(path string) []byte {
	if path == "" {
		return nil
	}
	kept := bytes.Repeat([]byte("filled"), filled/6+1)
	f, err := os.Create(path)
	if err == nil {
		_, err = f.Write(kept)
	}
	if err := errors.Join(err, f.Sync()); err != nil {
		fmt.Println(err)
	}
	return kept
}

func TestMain(m *testing.M) {
	if d, err := time.ParseDuration(os.Getenv(burn)); err == nil {
		kept := fill(os.Getenv(fillFile))
		defer runtime.KeepAlive(kept)
		for cpuTime() < d {
		}
		fmt.Println("burnt")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// burner starts a command that burns processor time, and returns when the command has burned
// it.
func burner(t *testing.T, c *exec.Cmd, d time.Duration) (end func()) {
	t.Helper()
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env, burn+"="+d.String())
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "burnt\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() {
		in.Close()
		c.Wait()
	}
}

// The processor time of processes started by this one is separated from that of other programs,
// exactly except for the resolution of the kernel's ticks, even after a process has ended.
func TestMachineSeparatesStartedProcesses(t *testing.T) {
	testenv.SkipIfShort(t)
	const used = 300 * time.Millisecond
	for _, ended := range []bool{false, true} {
		s := StartSampler(owner.Service{})
		c := exec.Command(os.Args[0])
		end := burner(t, c, used)
		if ended {
			end()
		}
		took := time.Since(s.began).Seconds()
		m := s.Stop().Machine
		if !ended {
			end()
		}
		most := time.Duration(c.ProcessState.UserTime() + c.ProcessState.SystemTime())
		if got := m.Started * took; got < (used-20*time.Millisecond).Seconds() || got > most.Seconds()+0.02+0.05*took {
			t.Errorf("ended %v: started processes used %.3f s, not between %v and %v", ended, got, used, most)
		}
	}
}

// The memory that a started process fills, and the bytes that it has the disk write, are at least what
// is known of it.
func TestMachineMeasuresMemoryAndWrites(t *testing.T) {
	testenv.SkipIfShort(t)
	s := StartSampler(owner.Service{})
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fillFile+"="+filepath.Join(t.TempDir(), "file"))
	end := burner(t, c, 0)
	m := s.Stop().Machine
	end()
	if m.StartedResident < filled {
		t.Errorf("%d bytes of memory, want at least %d", m.StartedResident, filled)
	}
	if m.StartedWritten < filled || m.StartedWritten > 2*filled {
		t.Errorf("%d bytes written, want %d and some", m.StartedWritten, filled)
	}
}

// A process whose parent has ended does not count as started by this process, but to other programs.
// One of three measurements is enough: while other tests use the disk, the kernel's counters of idle
// time and of waiting for the disk are not read at one moment, so a period may count twice.
func TestMachineSeparatesOtherPrograms(t *testing.T) {
	testenv.SkipIfShort(t)
	const used = 300 * time.Millisecond
	for range 3 {
		m, took := beside(t, used)
		if got := m.Started * took; got > 0.1 {
			t.Fatalf("started processes used %.3f s, and the shell alone was one", got)
		}
		got := m.Others * took
		if got >= (used - 50*time.Millisecond).Seconds() {
			return
		}
		t.Logf("other programs used %.3f s in %.3f s, of which one alone used %v; per second, all in all: %+v", got, took, used, *m)
	}
	t.Error("in three measurements other programs used less than one of them did")
}

// beside returns the usage of a window of the seconds took, in which a process that belongs to init
// used d.
func beside(t *testing.T, d time.Duration) (m *Machine, took float64) {
	s := StartSampler(owner.Service{})
	// The shell starts the burner in the background and exits, so init becomes its parent.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c := exec.Command("sh", "-c", fmt.Sprintf("setsid '%s' <&3 3<&- & exit 0", os.Args[0]))
	c.ExtraFiles = []*os.File{r}
	burner(t, c, d)
	took = time.Since(s.began).Seconds()
	return s.Stop().Machine, took
}

// Two threads restricted to the same processor wait for each other.
func TestMachineCountsWaitingThreads(t *testing.T) {
	testenv.SkipIfShort(t)
	if u := readUsage(owner.Service{}); u == nil || len(u.waiting) == 0 {
		t.Skip("the kernel does not count for how long threads wait")
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	var one unix.CPUSet
	for cpu := range 1024 {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	const used = 100 * time.Millisecond
	s := StartSampler(owner.Service{})
	burnt, gone := make(chan error), make(chan struct{})
	for range 2 {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			err := unix.SchedSetaffinity(0, &one)
			for begin := threadTime(); err == nil && threadTime() < begin+used; {
			}
			burnt <- err
			<-gone
		}()
	}
	for range 2 {
		if err := <-burnt; err != nil {
			t.Error(err)
		}
	}
	took := time.Since(s.began).Seconds()
	m := s.Stop().Machine
	close(gone)
	// One thread waits at least until the other has used all its time.
	if got := m.Waiting * took; got < used.Seconds()/2 {
		t.Errorf("threads waited %.3f s in all", got)
	}
}

// threadTime returns the processor time that the calling thread has used.
func threadTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMachineIsUnknownWithoutBothReadings(t *testing.T) {
	var none *usage
	if m := none.usedSince(&usage{}); m != nil {
		t.Errorf("%+v", m)
	}
	if m := (&usage{}).usedSince(nil); m != nil {
		t.Errorf("%+v", m)
	}
}

// Busy is what is neither idle nor stolen; interrupts belong to no program.
func TestMachineAddsUp(t *testing.T) {
	type stat = procfs.CPUStat
	none := math.Inf(1)
	for name, c := range map[string]struct {
		before, after processors
		want          Machine
	}{
		"all processors": {processors{[]int{0, 1, 2, 3}, none, 0}, processors{[]int{0, 1, 2, 3}, none, 0},
			Machine{Cores: 4, Busy: 2.8, Others: 1, Stolen: 0.2}},
		"two of four": {processors{[]int{0, 1}, none, 0}, processors{[]int{0, 1}, none, 0},
			Machine{Cores: 2, Busy: 1.8, Others: 0, Stolen: 0.2}},
		"moved to other processors": {processors{[]int{0, 1}, none, 0}, processors{[]int{2, 3}, none, 0},
			Machine{Cores: 4, Busy: 2.8, Others: 1, Stolen: 0.2}},
		"shown with other numbers": {processors{[]int{8, 9, 10, 11}, none, 0}, processors{[]int{8, 9, 10, 11}, none, 0},
			Machine{Cores: 4, Busy: 2.8, Others: 1, Stolen: 0.2}},
		"a quota that the group uses up": {processors{[]int{0, 1, 2, 3}, 2.5, 100}, processors{[]int{0, 1, 2, 3}, 2.5, 123},
			Machine{Cores: 2.5, Busy: 2.3, Others: 0.5, Stolen: 0.2}},
		"a quota above what others leave": {processors{[]int{0, 1, 2, 3}, 2.5, 100}, processors{[]int{0, 1, 2, 3}, 2.5, 110},
			Machine{Cores: 2.5, Busy: 1.3, Others: 1, Stolen: 0.2}},
	} {
		from := usage{at: time.Unix(100, 0), serving: map[int]float64{8: 3, 9: 1}, kept: map[int]float64{1: 2, 2: 5, 8: 1}, may: c.before, self: 7, started: family{11, 500, 1000}, waiting: map[int]float64{1: 2, 2: 5},
			cpus: map[int64]stat{0: {Idle: 10, Steal: 1}, 1: {Iowait: 4, SoftIRQ: 3}, 2: {Idle: 5}, 3: {}}}
		to := usage{at: time.Unix(110, 0), serving: map[int]float64{8: 4, 7: 50}, kept: map[int]float64{1: 4, 3: 1, 8: 2}, may: c.after, self: 12, started: family{23, 700, 4000}, waiting: map[int]float64{1: 4, 3: 1},
			cpus: map[int64]stat{0: {Idle: 10, Steal: 3}, 1: {Iowait: 4, SoftIRQ: 3}, 2: {Idle: 15}, 3: {}}}
		kept := 0.4
		c.want.Service, c.want.Kept = 0.1, &kept // of 8; 7 has come and 9 has gone
		c.want.Started, c.want.Waiting, c.want.StartedResident, c.want.StartedWritten = 1.2, 0.3, 700, 3000
		if diff := cmp.Diff(c.want, *to.usedSince(&from), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
