package observe

import "strings"

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

// above returns the path of the parent, or "" for the root.
func above(path string) string {
	switch i := strings.LastIndexByte(path, '/'); {
	case i > 0:
		return path[:i]
	case i == 0 && len(path) > 1:
		return "/"
	}
	return ""
}
