package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Process is a child that has said that it is ready.
type Process struct {
	role string
	addr string
	cmd  *exec.Cmd
	pipe io.Closer // held open as long as the child shall live
	said tail

	done chan struct{} // closed when the child has ended
	err  error         // how it ended; valid after done

	stop    sync.Once
	stopErr error
}

// Start runs this binary again in a role and returns when the child is ready.
// The context bounds the start only; the child lives until Stop or the end of
// this process. An error is one line, in the child's own words where it had any.
func Start(ctx context.Context, role string, args ...string) (*Process, error) {
	if _, isChild := os.LookupEnv(variable); isChild {
		return nil, errors.New("a child process must call child.Dispatch before it starts children")
	}
	p := &Process{role: role, done: make(chan struct{})}
	lines, err := p.launch(args)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	first := make(chan string, 1)
	go p.watch(lines, first)
	select {
	case line := <-first:
		err = p.heed(line)
	case <-ctx.Done():
		err = fmt.Errorf("not ready in time: %w", context.Cause(ctx))
	}
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	return p, nil
}

// launch starts the child and returns its standard output.
func (p *Process) launch(args []string) (io.Reader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(self, args...)
	p.cmd.Env = append(os.Environ(), variable+"="+p.role)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.said
	// A grandchild that outlives the child must not keep Wait waiting for the
	// end of its stderr.
	p.cmd.WaitDelay = time.Second
	if p.pipe, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return stdout, p.cmd.Start()
}

// watch hands on the child's first line, "" if it ends without one, and waits
// for its end.
func (p *Process) watch(stdout io.Reader, first chan<- string) {
	r := bufio.NewReader(stdout)
	line, _ := r.ReadString('\n')
	first <- strings.TrimSpace(line)
	io.Copy(io.Discard, r)
	p.err = p.cmd.Wait()
	close(p.done)
}

// heed takes in what the child said first.
func (p *Process) heed(line string) error {
	word, text, _ := strings.Cut(line, " ")
	switch {
	case word == "ready" && text != "":
		p.addr = text
		return nil
	case word == "error":
		return errors.New(text)
	case line != "":
		return fmt.Errorf("unexpected output %q: does main call child.Dispatch first?", line)
	}
	<-p.done
	return p.ended()
}

// Addr is the address that the child serves at.
func (p *Process) Addr() string { return p.addr }

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended, by Stop or by itself.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop asks the child to end and waits until it has cleaned up and is gone. A
// child that does not go in time is killed, with everything in its group. The
// error tells of a child that was killed or that did not end well, before Stop
// or in it. Stopping twice is harmless and returns the same.
func (p *Process) Stop() error {
	p.stop.Do(func() { p.stopErr = p.end() })
	return p.stopErr
}

func (p *Process) end() error {
	p.pipe.Close()
	select {
	case <-p.done:
	case <-time.After(grace + time.Second):
		syscall.Kill(-p.PID(), syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s (pid %d) did not stop and was killed", p.role, p.PID())
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w", p.role, p.ended())
	}
	return nil
}

// ended tells how the child ended, with its last words.
func (p *Process) ended() error {
	how := "ended by itself"
	if p.err != nil {
		how = p.err.Error()
	}
	if words := p.said.lastWords(); words != "" {
		how += ": " + words
	}
	return errors.New(how)
}
