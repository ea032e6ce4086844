package catalog

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// libraryLock is the lock that the session's client library ships.
func libraryLock(c drivers.Conn, path string) (workloads.Lock, error) {
	l, ok := c.(drivers.LibraryLocker)
	if !ok {
		return nil, fmt.Errorf("a lock of the client library: %w", drivers.ErrUnsupported)
	}
	return l.NewLibraryLock(path), nil
}
