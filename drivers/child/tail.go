package child

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the end of what is written to it. The zero tail is empty.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// tailSize holds the goroutine traces of a panicking process, whose one
// telling line comes before them.
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

// lastWords is the one line that says why a process died: the panic if there
// was one, otherwise the last line that is not blank.
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
