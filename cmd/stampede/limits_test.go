package main

import "testing"

// More sessions than the machine can have are refused with the limit that is in the way,
// and as many as it can have are not.
func TestSessionsBeyondTheMachine(t *testing.T) {
	m := machine{descriptors: 1024, memory: 1 << 30}
	for _, c := range []struct {
		clients, further int
		client, want     string
	}{
		{924, 0, "lean", ""},
		{925, 0, "lean", "--clients 925: 925 sessions need a file descriptor each, and this process may have 1\u202f024 open (ulimit -n): choose up to 924, or raise the limit"},
		{900, 25, "lean", "--clients 900: 925 sessions need a file descriptor each, and this process may have 1\u202f024 open (ulimit -n): choose up to 899, or raise the limit"},
		{341, 0, "go-zookeeper", ""},
		{342, 0, "go-zookeeper", "--clients 342: 342 sessions through go-zookeeper hold 3 MiB of buffers each, 1.00 GiB in all, and this machine has 1.00 GiB of memory: choose fewer, or ?client=lean in the backend's URL"},
		{342, 0, "clientv3", ""},
	} {
		got := ""
		if err := m.check(c.clients, c.further, c.client); err != nil {
			got = err.Error()
			if exitCode(err) != exitUsage {
				t.Errorf("%s: exit code %d", got, exitCode(err))
			}
		}
		if got != c.want {
			t.Errorf("%d and %d through %s:\n got %s\nwant %s", c.clients, c.further, c.client, got, c.want)
		}
	}
	if err := (machine{}).check(1_000_000, 0, "go-zookeeper"); err != nil {
		t.Errorf("nothing is known of the machine: %v", err)
	}
}
