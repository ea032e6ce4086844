package tree

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// An Identity is who a client has shown to be, one of several.
type Identity struct{ Scheme, ID string }

// X509 is the scheme of an Identity whose ID is the subject of a client's
// certificate, as RFC 2253 writes it.
const X509 = "x509"

// Super is who may do everything.
func Super() Identity { return Identity{Scheme: "super"} }

// Everyone is the access list that lets everybody do everything, which nearly
// all nodes have; do not change it.
func Everyone() []wire.ACL { return everyone }

var everyone = []wire.ACL{wire.OpenACL()}

// ACL is the node's access list; do not change it.
func (n *Node) ACL() []wire.ACL {
	if n.access.isEveryones() {
		return everyone
	}
	return slices.Collect(n.access.all())
}

// Allows tells whether somebody who is all of who has one of the permissions.
func (n *Node) Allows(perms int32, who []Identity) bool {
	if n.access.isEveryones() || slices.Contains(who, Super()) {
		return true
	}
	for a := range n.access.all() {
		if a.Perms&perms != 0 && (isAnyone(a) || slices.ContainsFunc(who, func(i Identity) bool { return i.is(a) })) {
			return true
		}
	}
	return false
}

func isAnyone(a wire.ACL) bool { return a.Scheme == "world" && a.ID == "anyone" }

// is tells whether the entry is for i.
func (i Identity) is(a wire.ACL) bool {
	if i.Scheme != a.Scheme || i.Scheme != "ip" {
		return i == Identity{a.Scheme, a.ID}
	}
	network, bits, ok := parseNetwork(a.ID)
	address, _, isAddress := parseNetwork(i.ID)
	return ok && isAddress && network>>(32-bits) == address>>(32-bits)
}

// maxACL is how long an access list may become: as long as one packet could hold.
const maxACL = wire.MaxPacket / 12

// granted is the access list that a node gets where acl is asked for by who:
// "auth" stands for all that the asker has a secret of. A nil list is everyone's.
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
	case "digest": // user:hash, where colons at the end do not count
		return strings.Count(strings.TrimRight(a.ID, ":"), ":") == 1
	case "ip":
		_, _, ok := parseNetwork(a.ID)
		return ok
	case X509:
		return validSubject(a.ID)
	}
	return false
}

// parseNetwork reads an IPv4 address, or a network with its number of bits.
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
