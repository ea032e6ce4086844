package reexec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// A Process is a child that has reported that it is ready.
type Process struct {
	role string
	addr string
	cmd  *exec.Cmd
	pipe *os.File // open until the child should end
	said tail

	done chan struct{} // closed when the child has ended
	err  error         // exit status; valid after done

	stop func() error // ends the child once
}

// Start runs this binary in a role and returns when the child is ready. The context limits the
// start only; the child lives until Stop or the end of this process. An error is one line, in the
// child's words if it reported one.
func Start(ctx context.Context, role string, args ...string) (*Process, error) {
	return start(ctx, command(role, args), role)
}

// StartKept is Start for a child that has nothing to clean up. On Linux the child is killed when
// this process ends, even while it is stopped (SIGSTOP). If keeper is not nil, it cleans up for the
// child: the context of the keeper's role does not end before the child and all processes that the
// child has started have ended.
func StartKept(ctx context.Context, keeper *Process, role string, args ...string) (*Process, error) {
	c := command(role, args)
	dieWithParent(c.SysProcAttr)
	if keeper != nil {
		// Processes that the child starts inherit the pipe too.
		c.ExtraFiles = []*os.File{keeper.pipe}
	}
	return start(ctx, c, role)
}

// command returns the command that runs this binary in a role.
func command(role string, args []string) *exec.Cmd {
	return &exec.Cmd{
		Args:        append([]string{role}, args...),
		Env:         environment(role),
		SysProcAttr: OwnGroup(),
		// A grandchild that outlives the child must not make Wait wait for the end of its stderr.
		WaitDelay: time.Second,
	}
}

func start(ctx context.Context, c *exec.Cmd, role string) (*Process, error) {
	if _, isChild := os.LookupEnv(Variable); isChild {
		return nil, errors.New("a child process must call reexec.Dispatch before it starts children")
	}
	if err := Possible(); err != nil {
		return nil, err
	}
	p := &Process{role: role, cmd: c, done: make(chan struct{})}
	p.stop = sync.OnceValue(p.end)
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

// run starts the child, sends its first line ("" if it ends without one), and waits for its end. It
// does all this on one thread, because the kernel ties a child's death signal to the thread that
// started it.
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

// heed handles the child's first line.
func (p *Process) heed(line string) error {
	word, text, _ := strings.Cut(line, " ")
	switch {
	case word == "ready" && text != "":
		p.addr = text
		return nil
	case word == "error":
		return errors.New(text)
	case line != "":
		return fmt.Errorf("unexpected output %q: does main call reexec.Dispatch first?", line)
	}
	<-p.done
	return p.ended()
}

// Addr returns the address that the child serves at.
func (p *Process) Addr() string { return p.addr }

// PID returns the child's process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the child has ended, by Stop or by itself.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop asks the child to end and waits until it has cleaned up and ended. A child that takes too
// long is killed together with its process group. The error reports a child that was killed or that
// failed, before or during Stop. It is safe to call Stop more than once; it returns the same error.
func (p *Process) Stop() error { return p.stop() }

func (p *Process) end() error {
	p.pipe.Close()
	select {
	case <-p.done:
	case <-time.After(grace + time.Second):
		killGroup(p.PID())
		<-p.done
		return fmt.Errorf("%s (pid %d) did not stop and was killed", p.role, p.PID())
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w", p.role, p.ended())
	}
	return nil
}

// ended returns an error that describes how the child ended, with its last output.
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

// environment returns the environment of a child in a role: that of this process without secrets.
// Children connect to no service that needs a password of this process.
func environment(role string) []string {
	return append(slices.DeleteFunc(os.Environ(), isSecret), Variable+"="+role)
}

// isSecret reports whether a variable's name suggests that it holds a secret. The headers of
// telemetry exporters contain credentials.
func isSecret(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

var secretWords = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "API_KEY", "ACCESS_KEY", "_HEADERS"}

// A tail keeps the last bytes written to it. The zero tail is empty.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// tailSize is large enough for the goroutine traces of a panic, which follow the line with the
// message.
const tailSize = 64 << 10

// Write implements io.Writer and never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// lastWords returns the line that explains why a process ended: the panic's message or, without a
// panic, the last line that is not blank.
func (t *tail) lastWords() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := ""
	for line := range bytes.Lines(t.kept) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		if text != "" {
			last = text
		}
	}
	return last
}

// A Role is the function that a child process runs. It calls ready once, with the address that it
// serves at. It returns when the context ends: when the parent has ended or calls Stop. It must not
// use standard output, which carries the address to the parent.
type Role func(ctx context.Context, args []string, ready func(addr string)) error

// Variable names the role in a child's environment.
const Variable = "STAMPEDE_CHILD"

// grace is how long a role may take to clean up, even on a busy machine. Stop waits a little
// longer, so that the child gives up first.
const grace = 30 * time.Second

// Dispatch runs the role of this process and exits. It returns immediately if the process is not a
// child.
func Dispatch(roles map[string]Role) {
	name, isChild := os.LookupEnv(Variable)
	if !isChild {
		return
	}
	os.Unsetenv(Variable) // processes that the role starts are not in the role
	role, known := roles[name]
	if !known {
		say("error", suggest.Unknown("role", name, slices.Sorted(maps.Keys(roles))).Error())
		os.Exit(1)
	}
	if err := play(role, os.Args[1:]); err != nil {
		say("error", err.Error())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// EndSignals returns the signals at which this process ends in order: SIGINT, SIGTERM and, unless it
// was ignored when the process started (as under nohup), SIGHUP.
func EndSignals() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// play runs the role until it returns. The role must return soon after the parent has ended or a
// signal has arrived.
func play(role Role, args []string) error {
	// The parent's ends of stdout and stderr close when the parent ends. A write to them must not
	// kill a child that still has to clean up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(context.Background(), EndSignals()...)
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin) // returns when the parent has ended
		cancel()
	}()
	context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() {
			fmt.Fprintf(os.Stderr, "still not done %v after the end\n", grace)
			os.Exit(1)
		})
	})
	return role(ctx, args, func(addr string) { say("ready", addr) })
}

// say writes one line to the parent.
func say(word, text string) {
	fmt.Fprintln(os.Stdout, word, strings.Join(strings.Fields(text), " "))
}

// The range of FreeAddr's ports. Systems assign higher ports to outgoing connections (Linux from
// 32768, others from 49152). A client that tries to reach a server that is down could otherwise be
// assigned that server's own port and block its restart.
const (
	firstPort = 10_000
	lastPort  = 32_767
)

// FreeAddr returns an address of the loopback interface that is free at present, for a server that
// needs a fixed address.
func FreeAddr() (string, error) {
	var err error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}
