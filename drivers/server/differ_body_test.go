package server_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// body describes the part of a reply behind its header.
func (s *side) body(op int32, d *wire.Decoder) string {
	switch op {
	case wire.OpCreate, wire.OpSync:
		return fmt.Sprintf(" %q", d.String())
	case wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return fmt.Sprintf(" %q", d.String()) + s.stat(d)
	case wire.OpExists, wire.OpSetData, wire.OpSetACL:
		return s.stat(d)
	case wire.OpGetData:
		return data(d) + s.stat(d)
	case wire.OpGetChildren, wire.OpGetEphemerals:
		return children(d)
	case wire.OpGetChildren2:
		return children(d) + s.stat(d)
	case wire.OpGetACL:
		return s.acl(d)
	case wire.OpAllChildrenNum, wire.OpAddWatch:
		return fmt.Sprintf(" %d", d.Int())
	case wire.OpWhoAmI:
		return clients(d)
	case wire.OpMulti, wire.OpMultiRead:
		return s.results(d)
	}
	return ""
}

// data distinguishes null from empty.
func data(d *wire.Decoder) string { return fmt.Sprintf(" %#v", d.Bytes()) }

func children(d *wire.Decoder) string {
	var r wire.Children
	r.Decode(d)
	return names(r.Names)
}

func clients(d *wire.Decoder) string {
	var r wire.WhoAmI
	r.Decode(d)
	slices.SortFunc(r.Clients, func(a, b wire.ClientInfo) int {
		return cmp.Or(cmp.Compare(a.Scheme, b.Scheme), cmp.Compare(a.User, b.User))
	})
	return fmt.Sprintf(" %v", r.Clients)
}

// acl describes an ACL in sorted order, because "auth" expands to identities in any order.
func (s *side) acl(d *wire.Decoder) string {
	var r wire.ACLStat
	for range d.Len(12) {
		r.ACL = append(r.ACL, wire.ACL{Perms: d.Int(), Scheme: d.String(), ID: d.String()})
	}
	slices.SortFunc(r.ACL, func(a, b wire.ACL) int {
		return cmp.Or(cmp.Compare(a.Perms, b.Perms), cmp.Compare(a.Scheme, b.Scheme), cmp.Compare(a.ID, b.ID))
	})
	return fmt.Sprintf(" %v", r.ACL) + s.stat(d)
}

// results describes the results of a multi.
func (s *side) results(d *wire.Decoder) (text string) {
	for d.Err() == nil {
		var h wire.MultiHeader
		if h.Decode(d); h.Done {
			return text + fmt.Sprintf(" end %+v", h)
		}
		text += fmt.Sprintf(" [%d %d", h.Type, h.Err)
		if h.Type == wire.MultiError {
			text += fmt.Sprintf(" %d", d.Int())
		} else {
			text += s.body(h.Type, d)
		}
		text += "]"
	}
	return text + " without an end"
}
