package wire

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

type counting struct{ requests int }

func (c *counting) Message(m drivers.Message) {
	if m.Kind == drivers.Request {
		c.requests++
	}
}

// TestUnansweredRequestsAreBounded sends more requests without a reply than a Dialogue keeps.
func TestUnansweredRequestsAreBounded(t *testing.T) {
	const beyond = 100
	var seen counting
	d := NewDialogue(&seen, true)
	one := []byte{0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, byte(OpSync)}
	for range maxPending + beyond {
		d.FromClient(one)
	}
	if n := d.tap.pending.tail - d.tap.pending.head; n != maxPending || seen.requests != maxPending {
		t.Errorf("%d requests are kept and %d were reported, want %d", n, seen.requests, maxPending)
	}
	if got, _ := d.Undecoded(); got != beyond*int64(len(one)) {
		t.Errorf("%d bytes were refused, want %d", got, beyond*len(one))
	}
	if refused, malformed := d.Undecoded(); refused != 0 || malformed != 0 {
		t.Errorf("%d bytes were refused and %d malformed since, want none", refused, malformed)
	}
}
