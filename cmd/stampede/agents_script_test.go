package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// stand makes a program that runs the given shell text.
func stand(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestScriptsStartAgents runs the scripts that start agents elsewhere, with stand-ins for ssh and srun that
// start them here.
func TestScriptsStartAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	stand(t, bin, "ssh", `shift; exec sh -c "$*"`)
	stand(t, bin, "srun", `for SLURM_PROCID in 0 1; do export SLURM_PROCID; "$@" & done; wait`)
	stand(t, bin, "hostname", `[ "$1" = -i ] && echo 127.0.0.1 192.0.2.1 || echo node`)
	load := []string{"lock", "--form", "predecessor", "--clients", "4", "--duration", "200ms", "--no-save"}
	for name, c := range map[string]struct {
		args, env []string
		want      []string
	}{
		"ssh": {
			args: append([]string{filepath.Join(root, "scripts/agents")}, load...),
			env:  []string{"HOSTS=local far"}, want: []string{"  local-1 ", "  far-2 "},
		},
		"slurm": {
			args: append([]string{filepath.Join(root, "scripts/agents.sbatch")}, load...),
			env:  []string{"SLURM_NTASKS=2"}, want: []string{"  node-0 ", "  node-1 "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), c.args[0], c.args[1:]...)
			cmd.Env = append(os.Environ(), append(c.env, "PATH="+bin+":"+os.Getenv("PATH"))...)
			cmd.Dir = t.TempDir()
			var out, err bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &err
			if failed := cmd.Run(); failed != nil {
				t.Fatalf("%v: %s", failed, err.String())
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the result does not say %q:\n%s", want, out.String())
				}
			}
		})
	}
	for _, wrong := range [][]string{{"lock"}, {"group", "--rate", "100", "--late-limit", "1s"}} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/agents"), wrong...)
		cmd.Env, cmd.Dir = os.Environ(), t.TempDir()
		if wrong[0] == "group" {
			cmd.Env = append(cmd.Env, "HOSTS=local")
		}
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%v: exit code %d, want 2: %s", wrong, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// TestContainersOfAgentsHaveValidFlags parses the command lines of the containers.
func TestContainersOfAgentsHaveValidFlags(t *testing.T) {
	n := 0
	for _, file := range []string{"../../docker/kubernetes/agents.yaml", "../../docker/compose.agents.yaml"} {
		decoder := yaml.NewDecoder(strings.NewReader(contentOf(t, file)))
		for {
			var document any
			if decoder.Decode(&document) != nil {
				break
			}
			for _, args := range stringLists(document) {
				if args[0] != "run" && args[0] != "agent" {
					continue
				}
				n++
				root := (&app{forms: catalog.Forms()}).root()
				cmd, rest, err := root.Find(args)
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err != nil {
					t.Errorf("%s: %v: %v", file, args, err)
				}
			}
		}
	}
	if n != 4 {
		t.Errorf("%d command lines, want 4", n)
	}
}

// stringLists returns the lists of strings in a document.
func stringLists(document any) (lists [][]string) {
	switch v := document.(type) {
	case map[string]any:
		for _, one := range v {
			lists = append(lists, stringLists(one)...)
		}
	case []any:
		var words []string
		for _, one := range v {
			if word, ok := one.(string); ok {
				words = append(words, word)
			} else {
				lists = append(lists, stringLists(one)...)
			}
		}
		if len(words) > 0 {
			lists = append(lists, words)
		}
	}
	return lists
}
