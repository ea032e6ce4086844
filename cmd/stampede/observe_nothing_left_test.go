package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestFaultsLeaveNothing breaks a program that never comes back, until it ends and until Ctrl-C. There is a verdict, and
// nothing is left: no process, no listener, no connection, node or watch at the service, and the data of the node that was
// changed is as before.
func TestFaultsLeaveNothing(t *testing.T) {
	testenv.SkipIfShort(t)
	for name, c := range map[string]struct {
		fault     string
		interrupt bool
		code      int
		verdict   string
	}{
		"the program ends": {"at=0s expire node=/follows", false, 99, "DOES NOT RECOVER: after its session expired"},
		"Ctrl-C":           {"at=0s silence node=/follows for=1h", true, 130, "n/a: the fault was not over."},
	} {
		t.Run(name, func(t *testing.T) {
			address, watcher := given(t)
			if _, err := watcher.Create(t.Context(), followed, []byte("v1"), 0); err != nil {
				t.Fatal(err)
			}
			before := serves(t, address)
			tmp := t.TempDir()
			observe := exec.CommandContext(t.Context(), "stampede", "observe", "--no-save", "--backend", "zookeeper://"+address, "--fault", c.fault,
				"--probe", followed, "--threshold", "recovery.missing_nodes == 0", "--", "follower", "zookeeper", "{address}", "never")
			var stdout bytes.Buffer
			observe.Stdout, observe.Dir, observe.Env = &stdout, tmp, append(os.Environ(), "TMPDIR="+tmp)
			out, err := observe.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := observe.Start(); err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			for lines := bufio.NewScanner(out); lines.Scan(); {
				stderr.WriteString(lines.Text() + "\n")
				if strings.HasPrefix(lines.Text(), "stampede: fault: ") && c.interrupt {
					_ = observe.Process.Signal(syscall.SIGINT)
				}
			}
			var exit *exec.ExitError
			if err := observe.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("%v, want exit code %d: %s", err, c.code, &stderr)
			}
			if !strings.Contains(stdout.String(), c.verdict) {
				t.Errorf("no %q in:\n%s", c.verdict, &stdout)
			}
			awaitNobody(t, tmp)
			listener := regexp.MustCompile(`observing at (\S+);`).FindStringSubmatch(stderr.String())
			if listener == nil {
				t.Fatalf("no address in:\n%s", &stderr)
			}
			if c, err := net.Dial("tcp", listener[1]); err == nil {
				c.Close()
				t.Errorf("something listens at %s", listener[1])
			}
			data, _, err := watcher.Get(t.Context(), followed, nil)
			if err != nil || string(data) != "v1" {
				t.Errorf("the node that was changed has %q, %v; want its data as before", data, err)
			}
			// The service ends a session that was not closed when its time-out has passed.
			for deadline := time.Now().Add(time.Minute); serves(t, address) != before; time.Sleep(lookForProcesses) {
				if time.Now().After(deadline) {
					t.Fatalf("the service has\n%s\nwant\n%s", serves(t, address), before)
				}
			}
		})
	}
}

// serves returns how many connections, nodes, ephemeral nodes and watches a service has.
func serves(t *testing.T, address string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "mntr"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`zk_(num_alive_connections|znode_count|ephemerals_count|watch_count|global_sessions)\s+\d+`).FindAllString(string(text), -1)
	if len(all) < 4 {
		t.Fatalf("mntr says %q", text)
	}
	return strings.Join(all, "\n")
}
