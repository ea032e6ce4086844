package wal

import (
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The append functions encode what the methods of reader decode.

func appendTxn(b []byte, x *tree.Txn) []byte {
	b = wire.AppendLong(wire.AppendLong(b, x.Session), x.Time)
	b = wire.AppendInt(b, int32(len(x.Who)))
	for _, i := range x.Who {
		b = wire.AppendString(wire.AppendString(b, i.Scheme), i.ID)
	}
	b = appendOp(b, &x.Op)
	b = wire.AppendInt(b, int32(len(x.Ops)))
	for i := range x.Ops {
		b = appendOp(b, &x.Ops[i])
	}
	return appendOpening(b, &x.Opening)
}

func appendOp(b []byte, op *tree.Op) []byte {
	b = append(b, byte(op.Kind), byte(op.Mode))
	b = wire.AppendBytes(wire.AppendString(b, op.Path), op.Data)
	b = appendACL(b, op.ACL)
	return wire.AppendInt(wire.AppendInt(wire.AppendLong(b, op.TTL), op.Version), int32(op.Err))
}

func appendACL(b []byte, acl []wire.ACL) []byte {
	b = wire.AppendInt(b, int32(len(acl)))
	for _, a := range acl {
		b = wire.AppendString(wire.AppendString(wire.AppendInt(b, a.Perms), a.Scheme), a.ID)
	}
	return b
}

func appendOpening(b []byte, o *tree.Opening) []byte {
	return append(wire.AppendInt(b, o.Timeout), o.Password[:]...)
}

func appendSession(b []byte, s *tree.Session) []byte {
	return appendOpening(wire.AppendLong(b, s.ID), &s.Opening)
}

func appendImage(b []byte, i *tree.Image) []byte {
	b = wire.AppendBytes(wire.AppendString(b, i.Path), i.Data)
	b = appendACL(b, i.ACL)
	for _, v := range []int64{i.Czxid, i.Mzxid, i.Pzxid, i.Ctime, i.Mtime, i.Owner, i.Life} {
		b = wire.AppendLong(b, v)
	}
	for _, v := range []int32{i.Version, i.Aversion, i.Creates} {
		b = wire.AppendInt(b, v)
	}
	return b
}
