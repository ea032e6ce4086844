package duet

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
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
