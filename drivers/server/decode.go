package server

import (
	"bytes"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// decodeOp decodes one write; the caller checks d for errors. An invalid operation becomes a
// Refuse.
func decodeOp(code int32, d *wire.Decoder) (op tree.Op) {
	switch code {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		r := decodeCreate(code, d)
		op = createOp(code, &r)
	case wire.OpSetData:
		var r wire.SetDataRequest
		r.Decode(d)
		op = tree.Op{Kind: tree.SetData, Path: r.Path, Data: bytes.Clone(r.Data), Version: r.Version}
	case wire.OpSetACL:
		var r wire.SetACLRequest
		r.Decode(d)
		op = tree.Op{Kind: tree.SetACL, Path: r.Path, ACL: r.ACL, Version: r.Version}
	case wire.OpDelete, wire.OpCheck:
		var r wire.PathVersion
		r.Decode(d)
		op = tree.Op{Kind: tree.Delete, Path: r.Path, Version: r.Version}
		if code == wire.OpCheck {
			op.Kind = tree.Check
		}
	case wire.OpDeleteContainer: // reserved for the server itself
		op = refused(wire.ErrBadArguments)
	}
	return op
}

func refused(err wire.Err) tree.Op { return tree.Op{Kind: tree.Refuse, Err: err} }

// decodeCreate decodes any kind of create request.
func decodeCreate(code int32, d *wire.Decoder) (r wire.CreateTTLRequest) {
	if code == wire.OpCreateTTL {
		r.Decode(d)
	} else {
		r.CreateRequest.Decode(d)
	}
	return r
}

// createOp returns the operation that creates a node of the opcode's kind. The container opcode
// creates a container whatever the flags are, and no other opcode creates one. A TTL requires the
// TTL flags, and the flags require a TTL.
func createOp(code int32, r *wire.CreateTTLRequest) tree.Op {
	op := tree.Op{Kind: tree.Create, Path: r.Path, Data: bytes.Clone(r.Data), ACL: r.ACL}
	mode, ok := createMode(r.Flags)
	expiring := mode&tree.Expiring != 0
	switch {
	case !ok, expiring != (code == wire.OpCreateTTL), expiring && (r.TTL <= 0 || r.TTL > tree.MaxTTL):
		return refused(wire.ErrBadArguments)
	case code == wire.OpCreateContainer:
		mode = mode&tree.Sequential | tree.Container
	default:
		mode &^= tree.Container
	}
	op.Mode, op.TTL = mode, r.TTL
	return op
}

// createMode returns the mode that the flags request.
func createMode(flags int32) (mode tree.Mode, ok bool) {
	modes := [...]tree.Mode{
		wire.FlagEphemeral:                       tree.Ephemeral,
		wire.FlagSequential:                      tree.Sequential,
		wire.FlagEphemeral | wire.FlagSequential: tree.Ephemeral | tree.Sequential,
		wire.FlagContainer:                       tree.Container,
		wire.FlagTTL:                             tree.Expiring,
		wire.FlagTTLSequential:                   tree.Expiring | tree.Sequential,
	}
	if flags < 0 || int(flags) >= len(modes) {
		return 0, false
	}
	return modes[flags], true
}
