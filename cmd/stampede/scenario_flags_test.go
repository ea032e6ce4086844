package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// TestFileCommand checks that the command that repeats a file contains the given flags and no
// credentials.
func TestFileCommand(t *testing.T) {
	a := &app{forms: catalog.Forms()}
	f, flags := spec.Defaults(a.forms)
	for _, set := range [][2]string{
		{"backend", "zookeeper://zk1,zk2"}, {"backend", "native:"}, {"clients", "2,8"}, {"user", "ann"},
		{"ephemeral-items", "true"}, {"output", "json"}, {"seed", "7"},
	} {
		if err := flags.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	f.File = "some.yaml"
	want := []string{"stampede", "run", "-f", "some.yaml", "--backend=zookeeper://zk1,zk2", "--backend=native:",
		"--clients=2,8", "--ephemeral-items=true", "--user=redacted", "--seed", "7"}
	if diff := cmp.Diff(want, spec.FileCommand(flags, *f, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBind checks that a flag takes precedence over the file, also over the alternative setting of
// the same thing.
func TestBind(t *testing.T) {
	t.Setenv("STAMPEDE_THINK", "3ms")
	a := &app{forms: catalog.Forms()}
	_, asked := spec.Defaults(a.forms)
	if err := asked.Set("duration", "2s"); err != nil {
		t.Fatal(err)
	}
	if err := cli.FromEnvironment(asked); err != nil {
		t.Fatal(err)
	}
	f := a.bind(scenario.Scenario{Settings: []scenario.Setting{
		{Key: "rounds", Values: []string{"50"}}, {Key: "think", Values: []string{"1ms"}}, {Key: "hold", Values: []string{"4ms"}},
		{Key: "clients", Values: []string{"2", "16"}}, {Key: "backend", Values: []string{"etcd:", "native:"}},
	}}, asked)
	got := []any{f.Run.Duration.String(), f.Run.Rounds, f.Run.Settings.Think.String(), f.Run.Settings.Hold.String(), f.Clients, f.Backend, f.Run.Warmup}
	want := []any{"2s", int64(0), "3ms", "4ms", []int{2, 16}, []string{"etcd:", "native:"}, spec.DefaultWarmup}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
