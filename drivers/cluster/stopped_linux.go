package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// awaitStopped returns when every thread of a process has stopped. A signal that was sent has not
// necessarily reached all of them.
func awaitStopped(pid int) error {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		going, err := going(pid)
		if err != nil || !going {
			return err
		}
		<-again.C
	}
}

// going reports whether any thread of a process can run.
func going(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false, err
	}
	for _, t := range threads {
		text, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		// The command name before it may contain parentheses.
		_, state, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
		if !strings.ContainsAny(state[:1], "TtZX") {
			return true, nil
		}
	}
	return false, nil
}
