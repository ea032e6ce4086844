package codec

import (
	"bytes"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The minimum length of a list element in bytes.
const (
	leastIdentity = 4 + 4
	leastACL      = 4 + 4 + 4
	leastOp       = 1 + 1 + 4 + 4 + 4 + 8 + 4 + 4
)

// A Decoder decodes what the append functions encode. After an error (see Err), it returns zero values.
type Decoder struct{ wire.Decoder }

// NewDecoder returns a decoder of the bytes.
func NewDecoder(b []byte) Decoder { return Decoder{wire.NewDecoder(b)} }

// Txn reads a transaction.
func (r *Decoder) Txn() tree.Txn {
	x := tree.Txn{Session: r.Long(), Time: r.Long()}
	for range r.Len(leastIdentity) {
		x.Who = append(x.Who, tree.Identity{Scheme: r.String(), ID: r.String()})
	}
	x.Op = r.op()
	for range r.Len(leastOp) {
		x.Ops = append(x.Ops, r.op())
	}
	x.Opening = r.opening()
	return x
}

func (r *Decoder) op() tree.Op {
	op := tree.Op{Kind: tree.Kind(r.Byte()), Mode: tree.Mode(r.Byte())}
	op.Path, op.Data = r.String(), bytes.Clone(r.Bytes())
	op.ACL = r.acl()
	op.TTL, op.Version, op.Err = r.Long(), r.Int(), wire.Err(r.Int())
	return op
}

func (r *Decoder) acl() (acl []wire.ACL) {
	for range r.Len(leastACL) {
		acl = append(acl, wire.ACL{Perms: r.Int(), Scheme: r.String(), ID: r.String()})
	}
	return acl
}

func (r *Decoder) opening() (o tree.Opening) {
	o.Timeout = r.Int()
	for i := range o.Password {
		o.Password[i] = r.Byte()
	}
	return o
}

// Session reads a session.
func (r *Decoder) Session() tree.Session { return tree.Session{ID: r.Long(), Opening: r.opening()} }

// Image reads a node.
func (r *Decoder) Image() tree.Image {
	i := tree.Image{Path: r.String(), Data: bytes.Clone(r.Bytes()), ACL: r.acl()}
	for _, v := range []*int64{&i.Czxid, &i.Mzxid, &i.Pzxid, &i.Ctime, &i.Mtime, &i.Owner, &i.Life} {
		*v = r.Long()
	}
	for _, v := range []*int32{&i.Version, &i.Aversion, &i.Creates} {
		*v = r.Int()
	}
	return i
}
