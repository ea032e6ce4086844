package duet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Variable is set in the environment of a side. A stampede that does not know it refuses to run.
const Variable = "STAMPEDE_SIDE"

// The pipes that a side inherits.
const (
	reportFD  = 3 // on which it reports
	releaseFD = 4 // from which it reads that its window may open
)

// The reports of a side, a line each. The second has the time in nanoseconds since 1970.
const (
	ready  = "ready"
	opened = "opened"
)

// A Gate is where a side waits until the window of the other side can open too.
type Gate struct {
	report, release *os.File
}

// FromEnvironment returns the gate of this process, nil if it is not a side of a duet. Processes that
// this one starts are not sides.
func FromEnvironment() *Gate {
	if _, isSide := os.LookupEnv(Variable); !isSide {
		return nil
	}
	os.Unsetenv(Variable)
	syscall.CloseOnExec(reportFD)
	syscall.CloseOnExec(releaseFD)
	return &Gate{report: os.NewFile(reportFD, "report"), release: os.NewFile(releaseFD, "release")}
}

// errAlone: the process that released both sides has ended.
var errAlone = errors.New("the process that started this side of a duet has ended")

// Await reports that this side is ready, and waits until it is released or the context ends.
func (g *Gate) Await(ctx context.Context) error {
	if _, err := fmt.Fprintln(g.report, ready); err != nil {
		return errAlone
	}
	released := make(chan error, 1)
	go func() {
		_, err := g.release.Read(make([]byte, 1))
		released <- err
	}()
	select {
	case err := <-released:
		if err != nil {
			return errAlone
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Opened reports when this side's window opened. It ignores that nobody may read it: then the side
// ends anyway.
func (g *Gate) Opened(at time.Time) { fmt.Fprintln(g.report, opened, at.UnixNano()) }
