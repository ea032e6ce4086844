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

// TestScriptStartsAgents runs the script that starts agents on other hosts, with a stand-in for ssh that starts them here.
func TestScriptStartsAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	stand(t, bin, "ssh", `shift; exec sh -c "$*"`)
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/agents"), "lock", "--form", "predecessor", "--clients", "4", "--duration", "200ms", "--no-save")
	cmd.Env = append(os.Environ(), "HOSTS=local far", "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.Dir = t.TempDir()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	for _, want := range []string{"  local-1 ", "  far-2 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the result does not say %q:\n%s", want, &out)
		}
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
