package main

import (
	"syscall"

	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/results"
)

const (
	// spareDescriptors are for what else a process has open: its output, what it starts,
	// pages and metrics.
	spareDescriptors = 100
	// buffersOfASession are those that go-zookeeper makes for each session: two of 1.5 MiB.
	buffersOfASession = 3 << 20
)

// A machine is what limits how many sessions this process can have; 0 where that is not
// known.
type machine struct{ descriptors, memory int64 }

func thisMachine() machine {
	m := machine{memory: results.ThisHost().MemoryBytes}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < 1<<62 {
		m.descriptors = int64(limit.Cur)
	}
	return m
}

// check rejects more sessions through a client library than the machine can have,
// before any is opened.
func (m machine) check(clients, further int, client string) error {
	sessions := int64(clients + further)
	if most := m.descriptors - spareDescriptors; m.descriptors > 0 && sessions > most {
		return usagef("--clients %d: %s sessions need a file descriptor each, and this process may have %s open (ulimit -n): choose up to %d, or raise the limit",
			clients, results.Count(sessions), results.Count(m.descriptors), max(0, most-int64(further)))
	}
	if need := sessions * buffersOfASession; client == zookeeper.Client && m.memory > 0 && need > m.memory {
		return usagef("--clients %d: %s sessions through %s hold 3 MiB of buffers each, %s in all, and this machine has %s of memory: choose fewer, or ?client=lean in the backend's URL",
			clients, results.Count(sessions), client, results.Bytes(need), results.Bytes(m.memory))
	}
	return nil
}
