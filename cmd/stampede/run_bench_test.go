package main

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A through is a service whose sessions a client opens.
type through struct {
	drivers.Service
	client string
}

func (s through) Info() drivers.Info { return drivers.Info{Client: s.client} }

// TestClientIsAdvisedForManySessions checks that stampede recommends another client only for many
// sessions through go-zookeeper.
func TestClientIsAdvisedForManySessions(t *testing.T) {
	const advice = "stampede: 1 001 sessions through go-zookeeper hold 3 MiB of buffers each, and through lean a few KiB\n"
	for _, c := range []struct {
		clients []int
		through string
		quiet   bool
		want    string
	}{
		{[]int{2, 1001, 8}, "go-zookeeper", false, advice},
		{[]int{1000}, "go-zookeeper", false, ""},
		{[]int{1001}, "go-zookeeper", true, ""},
		{[]int{1001}, "lean", false, ""},
		{[]int{1001}, "clientv3", false, ""},
	} {
		var said bytes.Buffer
		b := &bench{app: &app{err: &said}, Job: spec.Job{Flags: spec.Flags{Selection: spec.Selection{Clients: c.clients, Quiet: c.quiet}}}}
		b.adviseClient(through{client: c.through}, []workloads.Form{{}})
		if said.String() != c.want {
			t.Errorf("%v clients through %s: said %q, want %q", c.clients, c.through, said.String(), c.want)
		}
	}
}
