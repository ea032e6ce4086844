// Package argument reads the files that a command line names. Such a file may be a named pipe without a writer, or lie on a host
// that does not answer: the system lets who opens or reads it wait, and no context ends that. So the program that is
// interrupted asks here whether it waits for a file, and exits then.
package argument

import (
	"os"
	"sync/atomic"
)

// waiting is how many calls of this process wait for a file.
var waiting atomic.Int64

// Waits reports whether a call of this package waits for a file.
func Waits() bool { return waiting.Load() > 0 }

// ReadFile returns the content of the file, as os.ReadFile does.
func ReadFile(name string) ([]byte, error) {
	waiting.Add(1)
	defer waiting.Add(-1)
	return os.ReadFile(name)
}
