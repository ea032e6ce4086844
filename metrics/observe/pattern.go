package observe

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fold returns the pattern of a path: numbers, sequence numbers and random identifiers become #.
func Fold(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		n := identifier(path[i:])
		if n > 0 && (i == 0 || !alphanumeric(path[i-1])) {
			b.WriteByte('#')
			i += n
			continue
		}
		if path[i] < ' ' { // a line of a report is a line
			fmt.Fprintf(&b, `\x%02x`, path[i])
			i++
			continue
		}
		if path[i] == '~' { // begins the unique suffix that stampede's driver for etcd gives
			b.WriteString("~#")
			for i < len(path) && path[i] != '/' {
				i++
			}
			continue
		}
		if digit(path[i]) {
			for i < len(path) && digit(path[i]) {
				i++
			}
			b.WriteByte('#')
			continue
		}
		b.WriteByte(path[i])
		i++
	}
	return b.String()
}

// elision stands for what is left out of the middle of a name.
const elision = "…"

// Elide returns a name of at most width characters for each path that is longer: its middle is left out. A name
// is longer where it would otherwise be that of another path, too. [Elided] reports which path it stands for.
func Elide(paths []string, width int) map[string]string {
	names := map[string]string{}
	for _, p := range paths {
		letters := []rune(p)
		other := func(q string) bool { return q != p && Elided(names[p], q) }
		for w := width; w < len(letters); w++ {
			tail := w / 2
			names[p] = string(letters[:w-tail-1]) + elision + string(letters[len(letters)-tail:])
			if !slices.ContainsFunc(paths, other) {
				break
			}
			delete(names, p)
		}
	}
	return names
}

// Elided reports whether the name stands for the path, with the middle left out.
func Elided(name, path string) bool {
	head, tail, found := strings.Cut(name, elision)
	return found && len(path) > len(head)+len(tail) && strings.HasPrefix(path, head) && strings.HasSuffix(path, tail)
}

// The lengths of random identifiers: a UUID with hyphens, the text of 128 random bits in base 32,
// and the shortest run of hexadecimal digits that is taken for one.
const (
	uuidLength   = 36
	base32Length = 26
	hexLength    = 6
)

// identifier returns the length of the random identifier at the beginning of s, or 0.
func identifier(s string) int {
	if len(s) >= uuidLength && uuid(s[:uuidLength]) {
		return uuidLength
	}
	word := 0
	for word < len(s) && alphanumeric(s[word]) {
		word++
	}
	switch {
	case word > len("0x") && s[:2] == "0x" && all(s[2:word], hexadecimal):
		return word
	case word == base32Length && all(s[:word], base32):
		return word
	case word >= mixedLength && mixed(s[:word]):
		return word
	case word >= hexLength && all(s[:word], hexadecimal) && strings.ContainsAny(s[:word], "0123456789"):
		return word
	}
	return 0
}

// mixedLength is the shortest word that is taken for random if digits and letters alternate in it.
const mixedLength = 10

// mixed reports whether a letter follows a digit at least twice.
func mixed(s string) bool {
	n := 0
	for i := range len(s) - 1 {
		if digit(s[i]) && !digit(s[i+1]) {
			n++
		}
	}
	return n >= 2
}

func uuid(s string) bool {
	for i := range len(s) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (s[i] == '-') || !hyphen && !hexadecimal(s[i]) {
			return false
		}
	}
	return true
}

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

func digit(c byte) bool       { return c >= '0' && c <= '9' }
func hexadecimal(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func base32(c byte) bool      { return c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' }
func alphanumeric(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parentPath returns the path of the parent, or "" for the root.
func parentPath(path string) string {
	switch i := strings.LastIndexByte(path, '/'); {
	case i > 0:
		return path[:i]
	case i == 0 && len(path) > 1:
		return "/"
	}
	return ""
}

// Churn says how many sessions the clients opened and closed. Sessions that were open before the
// observation are left out. Those of etcd are leases: a client may have several.
type Churn struct {
	Opened     int64 `json:"opened"`
	Closed     int64 `json:"closed"`
	ShortLived int64 `json:"short_lived"`   // closed before their time-out had passed once
	MostAtOnce int64 `json:"most_sessions"` // of all sessions, those that were open at once
}

// Short sessions matter if clients replace them again and again: more than half are closed before
// their time-out has passed once, and turnover times as many were opened as were open at once. A
// program that opens many sessions and ends opens each once. Fewer than minOpened, or than openRate a second,
// cost little: a test suite opens one for each test.
const (
	minOpened = 20
	openRate  = 10
	turnover  = 4
)

// Heavy reports whether clients replace their sessions again and again, in an observation of that length.
func (c Churn) Heavy(length time.Duration) bool {
	return c.Opened >= minOpened && float64(c.Opened) >= openRate*length.Seconds() && c.Opened >= turnover*c.MostAtOnce &&
		c.ShortLived*2 > c.Closed
}

// closed counts a session that its client has closed. One that expires has lived for its time-out.
func (c *Churn) closed(at time.Time, s *session) {
	if s.opened.IsZero() {
		return
	}
	c.Closed++
	if at.Sub(s.opened) < s.timeout {
		c.ShortLived++
	}
}

func (c Churn) report(a *Analysis) Churn {
	if c.MostAtOnce = a.all.mostSessions; a.all.mostLeases > 0 {
		c.MostAtOnce = a.all.mostLeases
	}
	return c
}

// Rearming says how many watches the clients armed again within a second of a reconnect. Those of a
// packet that sets watches again are the ones that the session had.
type Rearming struct {
	Reconnects int64 `json:"reconnects"` // after which watches were armed again
	Watches    int64 `json:"watches"`
	// A second begins with the first reconnect that comes after the last such second.
	MostReconnects int64 `json:"most_reconnects"` // in one second
	MostWatches    int64 `json:"most_watches"`    // in one second
}

// Fewer reconnects in a second than minReconnects are clients that lose their connections one by one;
// fewer watches than minRearmed are set again with a packet or two.
const (
	minReconnects = 10
	minRearmed    = 1000
)

// Storm reports whether many sessions armed many watches again within one second.
func (r Rearming) Storm() bool {
	return r.MostReconnects >= minReconnects && r.MostWatches >= minRearmed
}

// soon is how long after a reconnect a client arms its watches again.
const soon = time.Second

// rearming is what a session has armed again since it reconnected.
type rearming struct {
	since time.Time // the latest reconnect, zero without one
	all   bool      // a packet has set all watches
	n     int       // watches
}

// rearmings adds up.
type rearmings struct {
	report              Rearming
	from                time.Time // of the current second
	reconnects, watches int64     // in it
}

func (r *rearmings) add(at time.Time, first bool, watches int64) {
	if r.from.IsZero() || at.Sub(r.from) >= time.Second {
		r.from, r.reconnects, r.watches = at, 0, 0
	}
	if first {
		r.report.Reconnects++
		r.reconnects++
	}
	r.report.Watches += watches
	r.watches += watches
	r.report.MostReconnects = max(r.report.MostReconnects, r.reconnects)
	r.report.MostWatches = max(r.report.MostWatches, r.watches)
}

// rearmedAll counts a packet that sets the watches again. A client may need several.
func (s *session) rearmedAll(a *Analysis) {
	r := &s.rearming
	rest := len(s.watches) - r.n
	if !r.recent(a.now) || r.all || rest <= 0 {
		return
	}
	first := r.n == 0
	r.all, r.n = true, len(s.watches)
	a.all.rearming.add(a.now, first, int64(rest))
}

// rearmedOne counts a watch that the session had and has asked for again.
func (s *session) rearmedOne(a *Analysis) {
	r := &s.rearming
	if !r.recent(a.now) || r.all || r.n >= len(s.watches) {
		return
	}
	r.n++
	a.all.rearming.add(a.now, r.n == 1, 1)
}

func (r *rearming) recent(now time.Time) bool { return !r.since.IsZero() && now.Sub(r.since) <= soon }
