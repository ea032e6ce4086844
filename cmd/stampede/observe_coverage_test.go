package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// wantObserved runs stampede observe and checks its exit code and what it says.
func wantObserved(t *testing.T, code int, says string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "stampede", append([]string{"observe", "--no-save"}, arguments...)...)
	c.Dir = t.TempDir()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(out.String(), says) {
		t.Errorf("stampede observe %s: exit code %d (%v), want %d and %q:\n%s",
			strings.Join(arguments, " "), got, err, code, says, &out)
	}
}

// TestThresholdsOverACapture judges captured packets of seven clients that watch one node: whole, cut off, by ports that
// are not the service's, and as those of another service. With all traffic the threshold that is met passes and the other
// fails; without it none passes.
func TestThresholdsOverACapture(t *testing.T) {
	packed, err := os.Open("../../examples/observe/corpus/first/go-zookeeper-settings/traffic.pcap.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	whole, truncated := filepath.Join(t.TempDir(), "whole.pcap"), filepath.Join(t.TempDir(), "truncated.pcap")
	for file, content := range map[string][]byte{whole: content, truncated: content[:len(content)-20]} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const port, met, exceeded = "23309", "fanout.max <= 7", "fanout.max <= 6"
	wantObserved(t, 0, "all traffic was seen and analysed", "--pcap", whole, "--port", port, "--threshold", met)
	wantObserved(t, 99, exceeded, "--pcap", whole, "--port", port, "--threshold", exceeded)
	wantObserved(t, 97, "the file ends in the middle of a packet", "--pcap", truncated, "--port", port, "--threshold", met)
	wantObserved(t, 0, "the file ends in the middle of a packet", "--pcap", truncated, "--port", port)
	wantObserved(t, 97, "to port 1, most others are to or from "+port, "--pcap", whole, "--port", "1", "--threshold", met)
	wantObserved(t, 97, "no connection is to port 1", "--pcap", whole, "--port", port, "--port", "1", "--threshold", met)
	wantObserved(t, 0, "to port 1, most others are to or from "+port, "--pcap", whole, "--port", "1")
	wantObserved(t, 97, "ZooKeeper's protocol, which is not that of the service",
		"--backend", "etcd:", "--pcap", whole, "--port", port, "--threshold", met)
	wantObserved(t, 2, "given twice", "--pcap", whole, "--pcap", whole)
	wantObserved(t, 2, "--project 0: must be at least 1", "--pcap", whole, "--project", "0")
	wantObserved(t, 2, "--for 0s: must be more than 0", "--for", "0s")
	c := exec.CommandContext(t.Context(), "stampede", "observe", "--no-save", "--pcap", "-", "--port", port, "--threshold", exceeded)
	c.Stdin = bytes.NewReader(content)
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 99 {
		t.Errorf("standard input: exit code %d, want 99:\n%s", c.ProcessState.ExitCode(), out)
	}
}

// TestUnreachableServerIsNamed observes a server that does not listen and one whose name does not resolve, and a
// command that a signal ends.
func TestUnreachableServerIsNamed(t *testing.T) {
	testenv.SkipIfShort(t)
	connect := []string{"bash", "-c", `exec 3<>"/dev/tcp/${0%:*}/${0##*:}"; read -t 5 <&3; exit 0`, "{address}"}
	for _, server := range []string{"127.0.0.1:1", "no-such-host.invalid:2181"} {
		says := "the proxy could not reach " + server + " for 1 connection: dial tcp"
		wantObserved(t, 97, "stampede: warning: "+says, append([]string{"--backend", "zookeeper://" + server,
			"--threshold", "herds == 0", "--"}, connect...)...)
		wantObserved(t, 0, "  warning: "+says, append([]string{"--backend", "zookeeper://" + server, "--"}, connect...)...)
	}
	wantObserved(t, 1, "bash was ended by a signal: killed", "--", "bash", "-c", "kill -9 $$")
}
