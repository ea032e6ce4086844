package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A recording is a [drivers.Probe] that records every message of one session, except for the
// heartbeats, whose number depends on time.
type recording struct {
	mu       sync.Mutex
	messages []drivers.Message
	grown    chan struct{} // closed and replaced with every message
}

func newRecording() *recording { return &recording{grown: make(chan struct{})} }

// Message records a copy of the message.
func (t *recording) Message(m drivers.Message) {
	if m.Op == drivers.OpPing {
		return
	}
	m.Path = bytes.Clone(m.Path)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, m)
	close(t.grown)
	t.grown = make(chan struct{})
}

// matching returns the wanted messages recorded so far, and a channel that is closed at
// the next message.
func (t *recording) matching(wanted func(drivers.Message) bool) ([]drivers.Message, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []drivers.Message
	for _, m := range t.messages {
		if wanted(m) {
			found = append(found, m)
		}
	}
	return found, t.grown
}

// all returns the wanted messages recorded so far.
func (t *recording) all(wanted func(drivers.Message) bool) []drivers.Message {
	found, _ := t.matching(wanted)
	return found
}

func requestOf(op drivers.Op) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == drivers.Request && m.Op == op }
}

func replyTo(op drivers.Op) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == drivers.Reply && m.Op == op }
}

func ofKind(kind drivers.MessageKind) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == kind }
}

// grows waits until at least n wanted messages were recorded.
func (t *recording) grows(ctx context.Context, n int, wanted func(drivers.Message) bool) error {
	for {
		found, grown := t.matching(wanted)
		if len(found) >= n {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("timed out waiting for the probe to see %d messages, saw %d", n, len(found))
		}
	}
}
