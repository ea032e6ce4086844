// Package pathname names paths: their parents, those that differ only in numbers and random identifiers by one pattern,
// and long ones by a shorter name.
package pathname

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/internal/printable"
)

// Parent returns the path of the parent node, empty for the root. That of a key of etcd without a slash
// is the root: there a watch on all keys stands.
func Parent[P string | []byte](path P) P {
	i := len(path) - 1
	for i >= 0 && path[i] != '/' {
		i--
	}
	switch {
	case i > 0:
		return path[:i]
	case len(path) == 0, i == 0 && len(path) == 1:
		return path[:0]
	case i == 0:
		return path[:1]
	}
	return P("/")
}

// Text returns a path as text on one line: bytes that are not UTF-8, control characters and what reorders text become
// escapes, such as \xff. A backslash that would read as an escape becomes \x5c, so that no two paths have one text.
func Text(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		text, n := letter(path[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// letter returns the text of the first character of a path, and its length in the path.
func letter(path string) (text string, n int) {
	_, n = utf8.DecodeRuneInString(path)
	switch {
	case path[0] == '\\' && len(path) > 1 && (path[1] == 'x' || path[1] == 'u'):
		return `\x5c`, 1
	case path[0] == '\n' || path[0] == '\t': // which are text elsewhere
		return fmt.Sprintf(`\x%02x`, path[0]), 1
	}
	return printable.Text(path[:n]), n
}

// Fold returns the pattern of a path, as text: numbers, sequence numbers and random identifiers become #. Percent-encoded
// characters are decoded where they are printable and no part of the pattern's own notation; their digits are no numbers.
func Fold(path string) string {
	var b strings.Builder
	word := 0 // where one may begin after a letter or digit
	for i := 0; i < len(path); {
		if c, encoded := percent(path[i:]); encoded != "" {
			if c > ' ' && c < 0x7f && !strings.ContainsRune(`/#%\~`, rune(c)) {
				encoded = string(rune(c))
			}
			b.WriteString(encoded)
			i += len("%3A")
			word = i
			continue
		}
		n := identifier(path[i:])
		if n > 0 && (i == word || !alphanumeric(path[i-1])) {
			b.WriteByte('#')
			i += n
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
		text, n := letter(path[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// percent returns the percent-encoded character with which a text begins, and how it is encoded, "" if it begins with
// none.
func percent(s string) (c byte, encoded string) {
	if len(s) < len("%3A") || s[0] != '%' {
		return 0, ""
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	if err != nil || !all(s[1:3], hexadecimal) {
		return 0, ""
	}
	return byte(n), s[:3]
}

// elision stands for what is left out of the middle of a name.
const elision = "…"

// Elide returns a name of at most width characters for each path that is longer: its middle is left out. A
// name is longer where it would otherwise be that of another path, too. [Elided] reports which path it
// stands for.
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
