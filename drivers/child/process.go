package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
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
	pipe *os.File // held open as long as the child shall live
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
	return start(ctx, command(role, args), role)
}

// StartKept is Start for a child that has nothing to put away. On Linux it is
// killed when this process is gone, so that it ends even while it is stopped
// (SIGSTOP). The keeper, where it is not nil, puts things away for it: the context
// of the keeper's role does not end before the child, and whatever the child has
// started, is gone.
func StartKept(ctx context.Context, keeper *Process, role string, args ...string) (*Process, error) {
	c := command(role, args)
	dieWithParent(c.SysProcAttr)
	if keeper != nil {
		// What the child starts inherits it in its turn.
		c.ExtraFiles = []*os.File{keeper.pipe}
	}
	return start(ctx, c, role)
}

// command is this binary in a role.
func command(role string, args []string) *exec.Cmd {
	return &exec.Cmd{
		Args:        append([]string{role}, args...),
		Env:         environment(role),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		// A grandchild that outlives the child must not keep Wait waiting for the
		// end of its stderr.
		WaitDelay: time.Second,
	}
}

func start(ctx context.Context, c *exec.Cmd, role string) (*Process, error) {
	if _, isChild := os.LookupEnv(Variable); isChild {
		return nil, errors.New("a child process must call child.Dispatch before it starts children")
	}
	p := &Process{role: role, cmd: c, done: make(chan struct{})}
	c.Stderr = &p.said
	launched, first := make(chan error, 1), make(chan string, 1)
	go p.run(launched, first)
	err := <-launched
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
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

// run launches the child, hands on its first line, "" if it ends without one, and
// waits for its end, all on one thread: the kernel ties a child's death signal to
// the thread that started it.
func (p *Process) run(launched chan<- error, first chan<- string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stdout, err := p.launch()
	launched <- err
	if err != nil {
		return
	}
	r := bufio.NewReader(stdout)
	line, _ := r.ReadString('\n')
	first <- strings.TrimSpace(line)
	io.Copy(io.Discard, r)
	p.err = p.cmd.Wait()
	close(p.done)
}

// launch starts the child and returns its standard output.
func (p *Process) launch() (io.Reader, error) {
	var err error
	if p.cmd.Path, err = os.Executable(); err != nil {
		return nil, err
	}
	p.cmd.Args[0] = p.cmd.Path
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	p.cmd.Stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		pipe.Close()
		return nil, err
	}
	p.pipe = pipe
	return stdout, nil
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
