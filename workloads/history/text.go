package history

import (
	"fmt"
	"strings"
	"time"
)

// String returns the history as text, one operation per line.
func (l Lock) String() string { return textOf(l) }

// String returns the history as text, one operation per line.
func (r Register) String() string { return textOf(r) }

func textOf(ops []Op) string {
	var lines []string
	for _, op := range ops {
		lines = append(lines, op.String())
	}
	return strings.Join(lines, "\n")
}

// String returns text such as "client 3, 1.2s to 1.3s: got the lock with token 17".
func (o Op) String() string {
	when := fmt.Sprintf("%v to %v", at(o.Called), at(o.Returned))
	if o.Returned == Never {
		when = fmt.Sprintf("from %v, not answered", at(o.Called))
	}
	return fmt.Sprintf("client %d, %s: %s", o.Client+1, when, describe(o.What))
}

func at(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

func describe(what any) string {
	switch w := what.(type) {
	case Grant:
		if w.Token == NoToken {
			return "got the lock"
		}
		return fmt.Sprintf("got the lock with token %d", w.Token)
	case Release:
		return "released the lock or lost it"
	case Read:
		return fmt.Sprintf("read version %d", w.Version)
	case Write:
		return w.describe()
	}
	return ""
}

func (w Write) describe() string {
	over := ""
	if w.Over != AnyVersion {
		over = fmt.Sprintf(" over version %d", w.Over)
	}
	switch {
	case w.Refused:
		return "set" + over + ", refused"
	case w.Version == unknown:
		return "set" + over
	}
	return fmt.Sprintf("set%s, which made version %d", over, w.Version)
}
