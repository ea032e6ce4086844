package reexec

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the last bytes written to it. The zero tail is empty.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// tailSize is large enough for the goroutine traces of a panic, which follow the line with the
// message.
const tailSize = 64 << 10

// Write implements io.Writer and never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// lastWords returns the line that explains why a process ended: the panic's message or, without a
// panic, the last line that is not blank.
func (t *tail) lastWords() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := ""
	for line := range bytes.Lines(t.kept) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		if text != "" {
			last = text
		}
	}
	return last
}
