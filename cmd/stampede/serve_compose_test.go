package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestEnsembleOfContainers runs the commands of docker/compose.ensemble.yaml without containers: each member has an address of this
// machine in place of its name. The load finds three members, then two of them.
func TestEnsembleOfContainers(t *testing.T) {
	testenv.SkipIfShort(t)
	var composition struct {
		Services map[string]struct {
			Command     []string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal([]byte(contentOf(t, "../../docker/compose.ensemble.yaml")), &composition); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a secret of the members"), 0o644); err != nil {
		t.Fatal(err)
	}
	address := func(id int) string { return fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()>>8&0x7f, os.Getpid()&0xff, id) }
	var named []string
	for id := 1; id <= 3; id++ {
		named = append(named, fmt.Sprint("member", id), address(id))
	}
	command := func(words []string, own string) *exec.Cmd {
		var args []string
		for _, w := range words {
			args = append(args, strings.NewReplacer(append(named, "0.0.0.0", own, "127.0.0.1", own, "/run/secrets/peers", secret)...).Replace(w))
		}
		c := exec.CommandContext(t.Context(), "stampede", args...)
		c.Dir = t.TempDir()
		return c
	}
	start := func(id int) (c *exec.Cmd, ended chan error) {
		c, ended = command(composition.Services[fmt.Sprint("member", id)].Command, address(id)), make(chan error, 1)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.Wait() }()
		t.Cleanup(func() {
			_ = c.Process.Signal(syscall.SIGTERM)
			<-ended
			if t.Failed() {
				t.Logf("member %d: %s", id, &stderr)
			}
		})
		return c, ended
	}
	load := func() {
		t.Helper()
		if out, err := command(composition.Services["load"].Command, "").CombinedOutput(); err != nil {
			t.Errorf("the load: %v\n%s", err, out)
		}
	}
	first, ended := start(1)
	start(2)
	start(3)
	for id := 1; id <= 3; id++ {
		health := composition.Services[fmt.Sprint("member", id)].Healthcheck.Test
		awaiting.True(t, fmt.Sprint("member ", id, " is healthy"), func() bool { return command(health[2:], address(id)).Run() == nil })
	}
	load()
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaiting.Value(t, "member 1 ends", ended)
	ended <- nil // for the cleanup
	load()
}
