package owner

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// dials is set to an address in a process of the tests that only connects to it.
const dials = "STAMPEDE_TEST_DIALS"

func TestMain(m *testing.M) {
	address := os.Getenv(dials)
	if address == "" {
		os.Exit(m.Run())
	}
	c, err := net.Dial("tcp", address)
	if err == nil {
		fmt.Println(c.LocalAddr())
		_, err = io.Copy(io.Discard, os.Stdin) // until the test lets it end
	}
	if err != nil {
		panic(err)
	}
}

// A client is another process with a connection to a listener of the test.
type client struct {
	*exec.Cmd
	input    io.Closer
	accepted net.Conn
}

// connected starts a client of the listener.
func connected(t *testing.T, l net.Listener, address string) client {
	t.Helper()
	c := client{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), dials+"="+address)
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.input = input
	output, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.end() })
	if c.accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.accepted.Close() })
	if own, err := bufio.NewReader(output).ReadString('\n'); err != nil || own == "" {
		t.Fatalf("the client says %q, %v", own, err)
	}
	return c
}

func (c client) end() {
	c.input.Close()
	_ = c.Wait() // it may have ended
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err) // no IPv6
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func questionOf(accepted net.Conn, open bool) question {
	return question{
		local: addressOf(accepted.RemoteAddr()), remote: addressOf(accepted.LocalAddr()), open: func() bool { return open },
	}
}

// TestOwnersAreFound looks for the sockets of three processes, by IPv4, by IPv6, and by both, and for one
// of this process: each is of its own, with the name of the program.
func TestOwnersAreFound(t *testing.T) {
	four, six := listen(t, "tcp4", "127.0.0.1:0"), listen(t, "tcp6", "[::1]:0")
	a, b := connected(t, four, four.Addr().String()), connected(t, six, six.Addr().String())
	own, err := net.Dial("tcp", four.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	accepted, err := four.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()

	known := new(table)
	questions := []question{questionOf(a.accepted, true), questionOf(b.accepted, true), questionOf(accepted, true)}
	for range 2 { // the second time it knows the processes
		found := known.lookUp(questions)
		for i, want := range []int{a.Process.Pid, b.Process.Pid, os.Getpid()} {
			name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", want))
			if err != nil {
				t.Fatal(err)
			}
			if p := found[i]; p.ID != want || p.Name+"\n" != string(name) || p.Started == 0 {
				t.Errorf("socket %d is of %+v, want process %d, %s", i, p, want, name)
			}
		}
		if len(known.known) != 3 {
			t.Errorf("%d processes are remembered, want 3", len(known.known))
		}
	}
}

// TestMappedAddress checks that a socket of IPv6 with an address of IPv4, as Java opens it, is found.
func TestMappedAddress(t *testing.T) {
	at := netip.MustParseAddrPort("127.0.0.1:8080")
	const want, mapped = "0100007F:1F90", "0000000000000000FFFF00000100007F:1F90" // as x86 and ARM have it
	if four, six := kernelText(at), mappedText(at); four != want || six != mapped {
		t.Errorf("127.0.0.1:8080 is %s and %s, want %s and %s", four, six, want, mapped)
	}
}

// TestOwnerIsNotGuessed looks for sockets whose owner cannot be told: the process has ended, the connection
// has ended, and the ports may be those of another one, or it belongs to another machine.
func TestOwnerIsNotGuessed(t *testing.T) {
	l := listen(t, "tcp4", "127.0.0.1:0")
	ended, closed := connected(t, l, l.Addr().String()), connected(t, l, l.Addr().String())
	ended.end()
	remote := question{local: netip.MustParseAddrPort("192.0.2.1:5"), remote: netip.MustParseAddrPort("192.0.2.2:5")}
	questions := []question{questionOf(ended.accepted, true), questionOf(closed.accepted, false)}
	if found := new(table).lookUp(questions); len(found) != 0 {
		t.Errorf("found %v, want nothing", found)
	}
	if remote.isLocal() || !questionOf(closed.accepted, true).isLocal() {
		t.Errorf("192.0.2.1 at 192.0.2.2 is local: %v, 127.0.0.1: %v; want false, true",
			remote.isLocal(), questionOf(closed.accepted, true).isLocal())
	}
}

// TestLooksAreBatches asks for many owners while the first look lasts: a second look answers all of them.
func TestLooksAreBatches(t *testing.T) {
	const more = 1000
	l := listen(t, "tcp4", "127.0.0.1:0")
	c := connected(t, l, l.Addr().String())
	looks, asked := [][]question{}, make(chan struct{})
	first := make(chan struct{}, 1)
	f := &Finder{ready: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
	f.look = func(all []question) map[int]traffic.Process {
		looks = append(looks, all)
		first <- struct{}{}
		<-asked
		found := map[int]traffic.Process{}
		for i := range all {
			found[i] = traffic.Process{ID: 7}
		}
		return found
	}
	go f.work()
	var answers sync.WaitGroup
	find := func() {
		answers.Add(1)
		f.Find(c.accepted, func() bool { return true }, func(p traffic.Process) { answers.Done() })
	}
	find()
	<-first
	for range more {
		find()
	}
	close(asked)
	answers.Wait()
	f.Close()
	if len(looks) != 2 || len(looks[1]) != more {
		t.Errorf("%d looks, want 2, the second for %d sockets", len(looks), more)
	}
}

// TestPausesAreBounded checks that the owners of sockets are looked for a few times a second, however
// long a look takes, and that a short look is not followed by another at once.
func TestPausesAreBounded(t *testing.T) {
	for _, c := range []struct{ pause, look, want time.Duration }{
		{shortest, time.Millisecond, shortest},
		{shortest, 10 * time.Millisecond, rest * 10 * time.Millisecond},
		{longest, time.Millisecond, longest},
		{shortest, time.Second, longest},
		{longest, time.Hour, longest},
	} {
		if got := pauseAfter(c.pause, c.look); got != c.want {
			t.Errorf("a pause of %v after a look of %v, want %v", got, c.look, c.want)
		}
	}
}

// TestFinderIsBounded asks for more owners than wait.
func TestFinderIsBounded(t *testing.T) {
	l := listen(t, "tcp4", "127.0.0.1:0")
	c := connected(t, l, l.Addr().String())
	f := &Finder{ready: make(chan struct{}, 1)} // it does not work
	const more = 10
	unknown := 0
	for range maxWaiting + more {
		f.Find(c.accepted, nil, func(traffic.Process) { unknown++ })
	}
	if n := len(f.waiting); n != maxWaiting || unknown != more {
		t.Errorf("%d wait and %d are not looked for, want %d and %d", n, unknown, maxWaiting, more)
	}
}
