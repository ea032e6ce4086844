package duet

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// A Side is a running process that waits at its [Gate].
type Side struct {
	*exec.Cmd
	reports *bufio.Reader
	pipes   [2]*os.File // report and release, the parent's ends
}

// Start starts a command as a side, restricted to these processors. The Go runtime of the side, and of
// the servers that it starts, use as many processors as it has, whatever this process was told.
func Start(cmd *exec.Cmd, on []int) (*Side, error) {
	fromSide, report, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer report.Close()
	release, toSide, err := os.Pipe()
	if err != nil {
		fromSide.Close()
		return nil, err
	}
	defer release.Close()
	cmd.ExtraFiles = []*os.File{report, release} // reportFD and releaseFD
	cmd.Env = append(cmd.Env, Variable+"=1", "GOMAXPROCS="+strconv.Itoa(len(on)))
	s := &Side{Cmd: cmd, reports: bufio.NewReader(fromSide), pipes: [2]*os.File{fromSide, toSide}}
	if err := restricted(on, cmd.Start); err != nil {
		s.closePipes()
		return nil, err
	}
	return s, nil
}

// Ready waits until the side is ready. An error means that it has ended.
func (s *Side) Ready() error {
	_, err := s.reported(ready)
	return err
}

// Release lets the side open its window.
func (s *Side) Release() error {
	_, err := s.pipes[1].Write([]byte{1})
	return err
}

// Opened waits until the side's window is open, and returns since when.
func (s *Side) Opened() (time.Time, error) {
	text, err := s.reported(opened)
	if err != nil {
		return time.Time{}, err
	}
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, ns), nil
}

// reported reads the next report and returns what follows its word.
func (s *Side) reported(word string) (rest string, err error) {
	line, err := s.reports.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the side ended before it was %s: %w", word, err)
	}
	var got string
	if n, _ := fmt.Sscan(line, &got, &rest); n == 0 || got != word {
		return "", fmt.Errorf("the side reported %q, want %s", line, word)
	}
	return rest, nil
}

// Wait waits until the side has ended, and returns its exit status as an error, as [exec.Cmd] does.
func (s *Side) Wait() error {
	defer s.closePipes()
	return s.Cmd.Wait()
}

func (s *Side) closePipes() {
	for _, p := range s.pipes {
		p.Close()
	}
}

// Variable is set in the environment of a side. A stampede that does not know it refuses to run.
const Variable = "STAMPEDE_SIDE"

// The pipes that a side inherits.
const (
	reportFD  = 3 // on which it reports
	releaseFD = 4 // from which it reads that its window may open
)

// The reports of a side, a line each. The second has the time in nanoseconds since 1970.
const (
	ready  = "ready"
	opened = "opened"
)

// A Gate is where a side waits until the window of the other side can open too.
type Gate struct {
	report, release *os.File
}

// FromEnvironment returns the gate of this process, nil if it is not a side of a duet. Processes that
// this one starts are not sides.
func FromEnvironment() *Gate {
	if _, isSide := os.LookupEnv(Variable); !isSide {
		return nil
	}
	os.Unsetenv(Variable)
	keepFromChildren(reportFD)
	keepFromChildren(releaseFD)
	return &Gate{report: os.NewFile(reportFD, "report"), release: os.NewFile(releaseFD, "release")}
}

// errAlone: the process that released both sides has ended.
var errAlone = errors.New("the process that started this side of a duet has ended")

// Await reports that this side is ready, and waits until it is released or the context ends.
func (g *Gate) Await(ctx context.Context) error {
	if _, err := fmt.Fprintln(g.report, ready); err != nil {
		return errAlone
	}
	released := make(chan error, 1)
	go func() {
		_, err := g.release.Read(make([]byte, 1))
		released <- err
	}()
	select {
	case err := <-released:
		if err != nil {
			return errAlone
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Opened reports when this side's window opened. It ignores errors: if nobody reads the report, the side
// ends anyway.
func (g *Gate) Opened(at time.Time) { fmt.Fprintln(g.report, opened, at.UnixNano()) }

// A Processor is one processor that this process may use, as the kernel numbers it.
type Processor struct {
	Number, Socket, Core int
}

// Halves are two disjoint sets of processors of equal size.
type Halves [2][]int

// OfThisMachine returns the halves of the processors that this process may use.
func OfThisMachine() (Halves, error) {
	all, err := Processors()
	if err != nil {
		return Halves{}, err
	}
	return Halve(all)
}

// Halve divides the processors. It keeps the threads of one core in one half, where it can: two sides
// on the same core would slow each other. If the number is odd, neither half has the last one.
func Halve(all []Processor) (Halves, error) {
	n := len(all) / 2
	if n == 0 {
		return Halves{}, fmt.Errorf("needs two processors, one for each side, and this process may use %d", len(all))
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y Processor) int {
		return cmp.Or(x.Socket-y.Socket, x.Core-y.Core, x.Number-y.Number)
	})
	var h Halves
	for i, p := range all[:2*n] {
		h[i/n] = append(h[i/n], p.Number)
	}
	for _, half := range h {
		slices.Sort(half)
	}
	return h, nil
}
