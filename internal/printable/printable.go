// Package printable escapes control characters instead of sending them to a terminal, which
// would act on them: a name or a version sent by a server may contain some.
package printable

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with escapes such as \x1b for bytes that are not UTF-8, for control characters
// other than line feeds and tabs, and for characters that change the direction of text.
func Text(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !hidden(r):
			b.WriteString(s[:size])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// hidden reports whether a terminal acts on r or reorders text because of it.
func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// The only escape sequences that a Writer passes on.
const (
	Bold   = "\x1b[1m"
	Red    = "\x1b[1;31m" // bold, as the other colours are
	Green  = "\x1b[1;32m"
	Yellow = "\x1b[1;33m"
	Plain  = "\x1b[0m"
)

var emphasis = []string{Bold, Red, Green, Yellow, Plain}

// A Writer writes its input escaped by [Text], except for its own sequences
// for bold type and colours.
type Writer struct {
	to   io.Writer
	part []byte // the first bytes of an incomplete character
}

// NewWriter returns a Writer that writes to another.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write writes p. It keeps an incomplete character at the end of p until the rest of the
// character arrives.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.part, p...)
	whole := len(text) - len(cutOff(text))
	w.part = bytes.Clone(text[whole:])
	if _, err := io.WriteString(w.to, withEmphasis(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cutOff returns the incomplete character at the end of text, if there is one.
func cutOff(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return nil
			}
			return end
		}
	}
	return nil
}

func withEmphasis(s string) string {
	var b strings.Builder
	for s != "" {
		at, mark := len(s), ""
		for _, e := range emphasis {
			if i := strings.Index(s, e); i >= 0 && i < at {
				at, mark = i, e
			}
		}
		b.WriteString(Text(s[:at]))
		b.WriteString(mark)
		s = s[at+len(mark):]
	}
	return b.String()
}
