package spec

import (
	"fmt"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/openfiles"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

const (
	// spareDescriptors are for the process's other descriptors: output, child processes, pages and
	// metrics.
	spareDescriptors = 100
	// buffersOfASession is the size of the buffers that go-zookeeper allocates for each session:
	// two of 1.5 MiB.
	buffersOfASession = 3 << 20
)

// A Machine holds what limits how many sessions this process can have; 0 means unknown.
type Machine struct{ descriptors, memory int64 }

// ThisMachine returns the limits of this process and machine.
func ThisMachine() Machine {
	m := Machine{memory: results.ThisHost().MemoryBytes}
	if limit := openfiles.Limit(); limit < 1<<62 {
		m.descriptors = int64(limit)
	}
	return m
}

// check rejects more sessions through a client library than the machine can have, before any is
// opened.
func (m Machine) check(clients, further int, client string) error {
	sessions := int64(clients + further)
	if err := m.DescriptorsFor("clients", int64(clients), int64(further)); err != nil {
		return err
	}
	if need := sessions * buffersOfASession; client == zookeeper.Client && m.memory > 0 && need > m.memory {
		return cli.Flagf("clients", "%d: %s sessions through %s hold 3 MiB of buffers each, %s in all, and this machine has %s of memory: choose fewer, or forms and a URL that use the client lean",
			clients, units.Count(sessions), client, units.Bytes(need), units.Bytes(m.memory))
	}
	return nil
}

// mostSessions returns how many sessions the descriptors of this process allow.
func (m Machine) mostSessions() int64 { return max(0, m.descriptors-spareDescriptors) }

// DescriptorsFor rejects the value n of a flag if n sessions and the further ones need more file
// descriptors than this process may have.
func (m Machine) DescriptorsFor(flag string, n, further int64) error {
	most, need := m.mostSessions(), n+further+spareDescriptors
	if m.descriptors == 0 || n+further <= most {
		return nil
	}
	return cli.Usagef("--%s %d: %s sessions need %s file descriptors, %d of them for other files, and the hard limit of this process is %s (ulimit -Hn): choose up to %d, or run ulimit -n %d as root first",
		flag, n, units.Count(n+further), units.Count(need), spareDescriptors, units.Count(m.descriptors), max(0, most-further), need)
}

// Allows says how many sessions a server can have here, in one line. It returns "" if the limit is
// unknown.
func (m Machine) Allows() string {
	if m.descriptors == 0 {
		return ""
	}
	return fmt.Sprintf("up to %s sessions at a time: the limit of this process is %s file descriptors (ulimit -n)\n",
		units.Count(m.mostSessions()), units.Count(m.descriptors))
}
