package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A serving is a stampede serve that a test has started.
type serving struct {
	t      *testing.T
	cmd    *exec.Cmd
	line   string // the first line that it printed
	stderr bytes.Buffer
}

func serve(t *testing.T, flags ...string) *serving {
	t.Helper()
	s := &serving{t: t, cmd: exec.CommandContext(t.Context(), "stampede", append([]string{"serve"}, flags...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Wait() }) // which the end of the test's context kills
	if s.line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		s.cmd.Wait()
		t.Fatalf("%q, %v: %s", s.line, err, &s.stderr)
	}
	return s
}

// end terminates the server and returns what it wrote to standard error.
func (s *serving) end() string {
	s.t.Helper()
	endsOn(s.t, s.cmd, syscall.SIGTERM)
	return s.stderr.String()
}

var port = regexp.MustCompile(`:(\d+)( and|,)`)

// addresses returns the server's addresses on the loopback interface.
func (s *serving) addresses() (all []string) {
	for _, found := range port.FindAllStringSubmatch(s.line, -1) {
		all = append(all, "127.0.0.1:"+found[1])
	}
	return all
}

// ask returns the answer to a four-letter word.
func ask(t *testing.T, address, word string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// refused returns ZooKeeper's answer to a word that is not in the server's whitelist.
func refused(word string) string {
	return word + " is not executed because it is not in the whitelist.\n"
}

// TestServeLimitsWhereOthersReachIt checks that a server that clients on other machines can reach
// has ZooKeeper's limits and warns, that a server on the loopback interface has no limits, and that
// flags take precedence in both cases.
func TestServeLimitsWhereOthersReachIt(t *testing.T) {
	for _, c := range []struct {
		flags      []string
		stat       bool   // whether stat is answered
		connection string // part of the answer to conf, if conf is answered
		warns      bool
	}{
		{[]string{"--listen", "127.0.0.1:0"}, true, "maxClientCnxns=0", false},
		{[]string{"--listen", "0.0.0.0:0"}, false, "", true},
		{[]string{"--listen", "0.0.0.0:0", "--words", "stat,conf"}, true, "maxClientCnxns=60", true},
		{[]string{"--listen", "0.0.0.0:0", "--words", "all", "--max-connections-per-address", "0"}, true, "maxClientCnxns=0", true},
		{[]string{"--listen", "127.0.0.1:0", "--words", "conf", "--max-connections-per-address", "7"}, false, "maxClientCnxns=7", false},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			s := serve(t, c.flags...)
			address := s.addresses()[0]
			if answer := ask(t, address, "stat"); (answer != refused("stat")) != c.stat {
				t.Errorf("stat: %q", answer)
			}
			if answer := ask(t, address, "conf"); c.connection == "" && answer != refused("conf") || !strings.Contains(answer, c.connection) {
				t.Errorf("conf: %q, want %q", answer, c.connection)
			}
			if said := s.end(); strings.Contains(said, "warning: --listen") != c.warns {
				t.Errorf("said %q", said)
			}
		})
	}
}

// TestServeBoundsConnectionsWhereOthersReachIt checks that the sixty-first connection from one
// address is not served.
func TestServeBoundsConnectionsWhereOthersReachIt(t *testing.T) {
	s := serve(t, "--listen", "0.0.0.0:0")
	address := s.addresses()[0]
	for range reachableConnections {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if answer := ask(t, address, "ruok"); answer != "" {
		t.Errorf("one connection more: answered %q", answer)
	}
}

// TestServeOverTLS checks that clients with and without TLS use the same server, and that the
// warning names the address where any client may connect.
func TestServeOverTLS(t *testing.T) {
	dir := t.TempDir()
	client := backendtest.Authority(t, dir)
	both, ca := filepath.Join(dir, "server.pem"), filepath.Join(dir, "ca.pem")
	files := []string{"--tls-cert", both, "--tls-key", both}
	s := serve(t, append(files, "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0", "--tls-client-ca", ca)...)
	if want := regexp.MustCompile(`^serving on 127\.0\.0\.1:\d+ and over TLS on 127\.0\.0\.1:\d+, durability memory`); !want.MatchString(s.line) {
		t.Errorf("said %q", s.line)
	}
	wantServedOver(t, s.addresses()[1], client)
	wantServed(t, s.addresses()[0])
	if said := s.end(); said != "" {
		t.Errorf("warned %q of addresses of this machine", said)
	}

	s = serve(t, append(files, "--tls-listen", "0.0.0.0:0")...)
	if !strings.HasPrefix(s.line, "serving over TLS on ") || len(s.addresses()) != 1 {
		t.Errorf("said %q, want an address over TLS and no other", s.line)
	}
	wantServedOver(t, s.addresses()[0], drivers.Security{CA: ca})
	if said := s.end(); !strings.Contains(said, "no authentication") {
		t.Errorf("said %q, want a warning", said)
	}

	s = serve(t, append(files, "--tls-listen", "0.0.0.0:0", "--tls-client-ca", ca)...)
	if said := s.end(); said != "" {
		t.Errorf("warned %q where every client needs a certificate", said)
	}
}

func wantServedOver(t *testing.T, address string, who drivers.Security) {
	t.Helper()
	cfg, err := who.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{address}, TLS: cfg})
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, there, err := c.Exists(t.Context(), "/zookeeper", nil); err != nil || !there {
		t.Errorf("/zookeeper is there: %v, %v", there, err)
	}
}
