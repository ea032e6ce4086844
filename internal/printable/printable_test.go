package printable

import (
	"strings"
	"testing"
)

var texts = map[string]string{
	"":                             "",
	"plain, Zoë, 日本\nand\ttabs":    "plain, Zoë, 日本\nand\ttabs",
	"\x1b]0;title\x07\x1b[2J":      `\x1b]0;title\x07\x1b[2J`,
	"over\rwritten\b\x7f\x00":      `over\x0dwritten\x08\x7f\x00`,
	"C1: \u009b31m":                `C1: \u009b31m`,
	"not UTF-8: \x9b31m, \xe6\x97": `not UTF-8: \x9b31m, \xe6\x97`,
	"backwards: \u202egnp.exe":     `backwards: \u202egnp.exe`,
	"a real replacement: \ufffd":   "a real replacement: \ufffd",
}

func TestText(t *testing.T) {
	for text, want := range texts {
		if got := Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// The output does not depend on how a text is split into writes, and bold type and colours are preserved.
func TestWriter(t *testing.T) {
	texts := map[string]string{
		Bold + "bold" + Plain + " \x1b[31mred":                               Bold + "bold" + Plain + ` \x1b[31mred`,
		Red + "fail" + Plain + Green + "pass" + Plain + Yellow + "n" + Plain: Red + "fail" + Plain + Green + "pass" + Plain + Yellow + "n" + Plain,
		"\x1b[8mhidden" + Plain:                                              `\x1b[8mhidden` + Plain,
	}
	for text, want := range texts {
		if got := written(text, len(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for size := 1; size < 6; size++ {
		if got, want := written("Zoë, 日本 \u009b", size), `Zoë, 日本 \u009b`; got != want {
			t.Errorf("%d bytes at once: got %q, want %q", size, got, want)
		}
	}
}

func written(text string, size int) string {
	var b strings.Builder
	w := NewWriter(&b)
	for ; len(text) > size; text = text[size:] {
		w.Write([]byte(text[:size]))
	}
	w.Write([]byte(text))
	return b.String()
}
