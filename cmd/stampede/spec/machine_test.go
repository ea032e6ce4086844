package spec

import (
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// TestSessionsBeyondTheMachine checks that more sessions than the machine can have are rejected
// with the limit that they exceed, and that as many as it can have are accepted.
func TestSessionsBeyondTheMachine(t *testing.T) {
	m := Machine{descriptors: 1024, memory: 1 << 30}
	for _, c := range []struct {
		clients, further int
		client, want     string
	}{
		{924, 0, "lean", ""},
		{925, 0, "lean", "--clients 925: 925 sessions need 1\u202f025 file descriptors, 100 of them for other files, and the hard limit of this process is 1\u202f024 (ulimit -Hn): choose up to 924, or run ulimit -n 1025 as root first"},
		{900, 25, "lean", "--clients 900: 925 sessions need 1\u202f025 file descriptors, 100 of them for other files, and the hard limit of this process is 1\u202f024 (ulimit -Hn): choose up to 899, or run ulimit -n 1025 as root first"},
		{341, 0, "go-zookeeper", ""},
		{342, 0, "go-zookeeper", "--clients 342: 342 sessions through go-zookeeper hold 3 MiB of buffers each, 1.00 GiB in all, and this machine has 1.00 GiB of memory: choose fewer, or forms and a URL that use the client lean"},
		{342, 0, "clientv3", ""},
	} {
		got := ""
		if err := m.check(c.clients, c.further, c.client); err != nil {
			got = err.Error()
			if cli.ExitCode(err) != cli.ExitUsage {
				t.Errorf("%s: exit code %d", got, cli.ExitCode(err))
			}
		}
		if got != c.want {
			t.Errorf("%d and %d through %s:\n got %s\nwant %s", c.clients, c.further, c.client, got, c.want)
		}
	}
	if err := (Machine{}).check(1_000_000, 0, "go-zookeeper"); err != nil {
		t.Errorf("nothing is known of the machine: %v", err)
	}
}

// TestServeStatesItsDescriptorLimit checks that a server says how many sessions its descriptors
// allow, and rejects a higher limit.
func TestServeStatesItsDescriptorLimit(t *testing.T) {
	m := Machine{descriptors: 20_000}
	if got, want := m.Allows(), "up to 19\u202f900 sessions at a time: the limit of this process is 20\u202f000 file descriptors (ulimit -n)\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := (Machine{}).Allows(); got != "" {
		t.Errorf("without a limit: %q", got)
	}
	if err := m.DescriptorsFor("max-sessions", 19_900, 0); err != nil {
		t.Error(err)
	}
	err := m.DescriptorsFor("max-sessions", 19_901, 0)
	want := "--max-sessions 19901: 19\u202f901 sessions need 20\u202f001 file descriptors, 100 of them for other files, and the hard limit of this process is 20\u202f000 (ulimit -Hn): choose up to 19900, or run ulimit -n 20001 as root first"
	if err == nil || err.Error() != want || cli.ExitCode(err) != cli.ExitUsage {
		t.Errorf("got  %v, exit code %d\nwant %s", err, cli.ExitCode(err), want)
	}
}

// TestListOfNumbers checks that a plan names a few numbers of clients each, and of many the least and the greatest: a search may need
// any of a range.
func TestListOfNumbers(t *testing.T) {
	var many []int
	for n := 16; n <= 512; n++ {
		many = append(many, n)
	}
	for _, c := range []struct {
		numbers []int
		want    string
	}{{[]int{2}, "2"}, {[]int{2, 8, 32}, "2, 8 and 32"}, {many, "16 to 512"}} {
		if got := list(c.numbers); got != c.want {
			t.Errorf("%d numbers: got %q, want %q", len(c.numbers), got, c.want)
		}
	}
}
