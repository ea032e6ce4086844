package main

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestClientIsAdvisedForManySessions checks that stampede recommends another client only for many
// sessions through go-zookeeper.
func TestClientIsAdvisedForManySessions(t *testing.T) {
	const advice = "stampede: 1 001 sessions through go-zookeeper hold 3 MiB of buffers each: with ?client=lean in the backend's URL a few KiB\n"
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
		b := &bench{app: &app{err: &said}, job: job{flags: runFlags{choice: choice{clients: c.clients, quiet: c.quiet}}}}
		b.adviseClient(drivers.Info{Client: c.through})
		if said.String() != c.want {
			t.Errorf("%v clients through %s: said %q, want %q", c.clients, c.through, said.String(), c.want)
		}
	}
}
