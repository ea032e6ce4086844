package hosts

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns what the monotonic clock of the kernel shows.
func monotonic(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// again returns this test's binary as a command on the host, which runs one test with the variable.
func again(t *testing.T, h *Host, test, variable string) string {
	t.Helper()
	c := h.Command(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	c.Env = append(os.Environ(), variable)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

func TestTheClockIsAhead(t *testing.T) {
	if os.Getenv("PRINT_CLOCK") != "" {
		_, _ = io.WriteString(os.Stdout, monotonic(t).String()+"\n")
		return
	}
	h := Start(t, 5000*time.Second)
	before := monotonic(t)
	shown, err := time.ParseDuration(again(t, h, t.Name(), "PRINT_CLOCK=1"))
	if after := monotonic(t); err != nil || shown < before+5000*time.Second || shown > after+5000*time.Second {
		t.Errorf("its clock shows %v between %v and %v, %v: want it 5000 s ahead", shown, before, after, err)
	}
}

// echo serves one TCP connection and UDP packets on one port of loopback.
func echo(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); packets.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	go func() {
		in := make([]byte, 100)
		for {
			n, from, err := packets.ReadFrom(in)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(in[:n], from)
		}
	}()
	return l.Addr().String()
}

// dial connects from within the host.
func dial(h *Host, network, address string) (c net.Conn, err error) {
	return c, h.inNamespace(func() error {
		c, err = net.Dial(network, address)
		return err
	})
}

// TestALinkIsTheOnlyWay connects to a server of the machine without a link, and with one, which delays.
func TestALinkIsTheOnlyWay(t *testing.T) {
	h := Start(t, time.Second)
	address := echo(t)
	if c, err := dial(h, "tcp", address); err == nil {
		c.Close()
		t.Fatal("the host reaches the machine without a link")
	}
	delay := Delay{There: 20 * time.Millisecond, Back: 10 * time.Millisecond}
	for _, network := range []string{"tcp", "udp"} {
		h.Link(t, network, address, delay)
		c, err := dial(h, network, address)
		if err != nil {
			t.Fatal(err)
		}
		sent := monotonic(t)
		got := make([]byte, 5)
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, []byte("hello")) {
			t.Errorf("%s: got %q, %v", network, got, err)
		}
		if took := monotonic(t) - sent; took < delay.There+delay.Back {
			t.Errorf("%s: the answer came after %v, want %v or more", network, took, delay.There+delay.Back)
		}
		c.Close()
	}
}

// TestNothingIsLeft ends a test that has a host with a process on it.
func TestNothingIsLeft(t *testing.T) {
	var sleeper *exec.Cmd
	var h *Host
	t.Run("within", func(t *testing.T) {
		h = Start(t, time.Second)
		sleeper = h.Command(t.Context(), "sleep", "infinity")
		if err := sleeper.Start(); err != nil {
			t.Fatal(err)
		}
	})
	if h == nil {
		t.Skip("the test within was skipped")
	}
	_ = sleeper.Wait() // it returns because the process was killed
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", h.pid)); err == nil {
		t.Error("the process that keeps the namespaces is still there")
	}
}
