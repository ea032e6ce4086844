package tree

import (
	"slices"
	"strings"
)

// validSubject reports whether name is a distinguished name such as "CN=alice,O=Example". The rules
// are those of Java's X500Principal, which ZooKeeper uses.
func validSubject(name string) bool {
	if strings.TrimSpace(name) == "" {
		return true
	}
	for attribute := range attributes(name) {
		key, value, found := strings.Cut(attribute, "=")
		if !found || !validAttribute(strings.TrimSpace(key)) || !closed(value) {
			return false
		}
	}
	return true
}

// attributes yields the parts of a name between commas, semicolons and plus signs that are neither
// quoted nor escaped.
func attributes(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(name); i++ {
			switch c := name[i]; {
			case c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case !quoted && strings.IndexByte(",;+", c) >= 0:
				if !yield(name[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(name[start:])
	}
}

// closed reports whether quotation marks are paired and every backslash is followed by a character.
func closed(value string) bool {
	quoted := false
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			if i++; i == len(value) {
				return false
			}
		case '"':
			quoted = !quoted
		}
	}
	return !quoted
}

// validAttribute reports whether key is an attribute's name or an object identifier.
func validAttribute(key string) bool {
	key = strings.ToUpper(key)
	return slices.Contains(attributeNames, key) || isObjectID(strings.TrimPrefix(key, "OID."))
}

var attributeNames = []string{
	"C", "CN", "DC", "DNQ", "DNQUALIFIER", "EMAIL", "EMAILADDRESS", "GENERATION", "GIVENNAME", "INITIALS",
	"IP", "L", "O", "OU", "S", "SERIALNUMBER", "ST", "STREET", "SURNAME", "T", "UID",
}

// isObjectID reports whether text is at least two numbers with dots between them.
func isObjectID(text string) bool {
	numbers := strings.Split(text, ".")
	return len(numbers) > 1 && !slices.ContainsFunc(numbers, func(n string) bool {
		return n == "" || strings.Trim(n, "0123456789") != ""
	})
}
