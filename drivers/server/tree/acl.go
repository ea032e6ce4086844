package tree

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// An Identity is one of the identities of a client.
type Identity struct{ Scheme, ID string }

// X509 is the scheme of an Identity whose ID is the subject of a client's certificate in the form
// of RFC 2253.
const X509 = "x509"

// Super is the superuser's identity, which has all permissions.
func Super() Identity { return Identity{Scheme: "super"} }

// everyone is the open ACL, which grants all permissions to all clients. Nearly all nodes have it.
var everyone = []wire.ACL{wire.OpenACL()}

// ACL returns the node's ACL; do not change it.
func (n *Node) ACL() []wire.ACL {
	if n.access.isEveryones() {
		return everyone
	}
	return slices.Collect(n.access.all())
}

// Allows reports whether a client with the identities in who has at least one of the permissions.
func (n *Node) Allows(perms int32, who []Identity) bool {
	if n.access.isEveryones() || slices.Contains(who, Super()) {
		return true
	}
	for a := range n.access.all() {
		if a.Perms&perms != 0 && (isAnyone(a) || slices.ContainsFunc(who, func(i Identity) bool { return i.matches(a) })) {
			return true
		}
	}
	return false
}

func isAnyone(a wire.ACL) bool { return a.Scheme == "world" && a.ID == "anyone" }

// matches reports whether the entry applies to i.
func (i Identity) matches(a wire.ACL) bool {
	if i.Scheme != a.Scheme || i.Scheme != "ip" {
		return i == Identity{a.Scheme, a.ID}
	}
	network, bits, ok := parseNetwork(a.ID)
	address, _, isAddress := parseNetwork(i.ID)
	return ok && isAddress && network>>(32-bits) == address>>(32-bits)
}

// maxACL is the maximum length of an ACL: as many entries as one packet can hold.
const maxACL = wire.MaxPacket / 12

// granted returns the ACL that a node gets when a client with the identities in who requests acl.
// An "auth" entry expands to the client's digest and x509 identities. A nil list is the open ACL.
func granted(acl []wire.ACL, who []Identity) ([]wire.ACL, wire.Err) {
	if len(acl) == 1 && acl[0] == wire.OpenACL() {
		return nil, wire.OK
	}
	var list []wire.ACL
	known := map[wire.ACL]bool{}
	for _, a := range acl {
		if known[a] {
			continue
		}
		known[a] = true
		before := len(list)
		switch {
		case a.Scheme == "auth":
			list = appendSecret(list, a.Perms, who)
		case isAnyone(a), validID(a):
			list = append(list, a)
		}
		if len(list) == before || len(list) > maxACL {
			return nil, wire.ErrInvalidACL
		}
	}
	if len(list) == 0 {
		return nil, wire.ErrInvalidACL
	}
	return list, wire.OK
}

func appendSecret(list []wire.ACL, perms int32, who []Identity) []wire.ACL {
	for _, i := range who {
		if i.Scheme == "digest" || i.Scheme == X509 {
			list = append(list, wire.ACL{Perms: perms, Scheme: i.Scheme, ID: i.ID})
		}
	}
	return list
}

func validID(a wire.ACL) bool {
	switch a.Scheme {
	case "digest": // user:hash; trailing colons are ignored
		return strings.Count(strings.TrimRight(a.ID, ":"), ":") == 1
	case "ip":
		_, _, ok := parseNetwork(a.ID)
		return ok
	case X509:
		return validSubject(a.ID)
	}
	return false
}

// parseNetwork parses an IPv4 address, optionally with a prefix length.
func parseNetwork(text string) (address uint32, bits int, ok bool) {
	text, size, isNetwork := strings.Cut(text, "/")
	bits = 32
	if isNetwork {
		n, err := strconv.Atoi(size)
		if bits = n; err != nil || n < 0 || n > 32 {
			return 0, 0, false
		}
	}
	parts := strings.Split(text, ".")
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 255 {
			return 0, 0, false
		}
		address = address<<8 | uint32(n)
	}
	return address, bits, len(parts) == 4
}

// An access is a node's ACL. Nodes have few different ACLs, so equal ones share one value. The zero
// access is the open ACL.
type access struct{ first unique.Handle[grant] }

type grant struct {
	wire.ACL
	rest access
}

// accessOf returns the access for a list. It does not keep the list.
func accessOf(list []wire.ACL) (a access) {
	for _, acl := range slices.Backward(list) {
		a = access{unique.Make(grant{acl, a})}
	}
	return a
}

func (a access) isEveryones() bool { return a == access{} }

// all yields the entries in order. The open ACL yields nothing.
func (a access) all() iter.Seq[wire.ACL] {
	return func(yield func(wire.ACL) bool) {
		for !a.isEveryones() {
			g := a.first.Value()
			if !yield(g.ACL) {
				return
			}
			a = g.rest
		}
	}
}

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
