package codec

import (
	"bytes"
	"errors"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The first byte of each section is its kind.
const (
	sessionSection byte = iota + 1
	nodeSection
	endSection // the last section, with the digest of the tree
)

// sectionLength is the length in bytes at which a section ends.
const sectionLength = 1 << 20

// ErrDamaged reports sections that WriteTree cannot have written.
var ErrDamaged = errors.New("not the sections of a tree")

// WriteTree passes the sections of a snapshot to add, which must not keep them. The function next
// appends images in pieces until there are no more.
func WriteTree(s *tree.Snapshot, next func([]tree.Image) (_ []tree.Image, more bool, err error), add func(section []byte) error) error {
	b := []byte{sessionSection}
	for _, x := range s.Sessions() {
		b = AppendSession(b, &x)
	}
	err := add(b)
	var images []tree.Image
	for more := true; err == nil && more; {
		if images, more, err = next(images[:0]); err == nil {
			b, err = writeNodes(b, images, add)
		}
	}
	if err == nil {
		err = add(wire.AppendLong([]byte{endSection}, int64(s.Digest())))
	}
	return err
}

// writeNodes writes sections of nodes with the buffer, which it returns.
func writeNodes(b []byte, images []tree.Image, add func([]byte) error) ([]byte, error) {
	for len(images) > 0 {
		b = append(b[:0], nodeSection)
		for len(images) > 0 && len(b) < sectionLength {
			b = AppendImage(b, &images[0])
			images = images[1:]
		}
		if err := add(b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// ReadTree returns the tree with the zxid whose sections next returns. The tree maintains its
// digest.
func ReadTree(zxid int64, next func() ([]byte, error)) (*tree.Tree, error) {
	sessions, err := readSessions(next)
	if err != nil {
		return nil, err
	}
	nodes := tree.Restore(zxid, sessions)
	for {
		section, err := next()
		if err != nil {
			return nil, err
		}
		if len(section) > 0 && section[0] == endSection {
			return restored(nodes, section[1:])
		}
		if err := readNodes(section, nodes); err != nil {
			return nil, err
		}
	}
}

// restored returns the tree if its digest is the recorded one.
func restored(nodes *tree.Restoration, digest []byte) (*tree.Tree, error) {
	t, err := nodes.Tree()
	if err != nil {
		return nil, err
	}
	t.KeepDigest()
	b := wire.NewDecoder(digest)
	if want := b.Long(); b.Err() != nil || uint64(want) != t.Digest() {
		return nil, errors.New("it shows another state than was written")
	}
	return t, nil
}

func readSessions(next func() ([]byte, error)) (sessions []tree.Session, err error) {
	section, err := next()
	if err != nil {
		return nil, err
	}
	b := NewDecoder(section)
	if b.Byte() != sessionSection {
		return nil, ErrDamaged
	}
	for len(b.Rest()) > 0 && b.Err() == nil {
		sessions = append(sessions, b.Session())
	}
	return sessions, b.Err()
}

func readNodes(section []byte, to *tree.Restoration) error {
	b := NewDecoder(section)
	if b.Byte() != nodeSection {
		return ErrDamaged
	}
	for len(b.Rest()) > 0 {
		i := b.Image()
		if b.Err() != nil {
			return b.Err()
		}
		if err := to.Add(&i); err != nil {
			return err
		}
	}
	return nil
}

// AppendTxn appends what Decoder.Txn reads.
func AppendTxn(b []byte, x *tree.Txn) []byte {
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

// AppendSession appends what Decoder.Session reads.
func AppendSession(b []byte, s *tree.Session) []byte {
	return appendOpening(wire.AppendLong(b, s.ID), &s.Opening)
}

// AppendImage appends what Decoder.Image reads.
func AppendImage(b []byte, i *tree.Image) []byte {
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

// TxnLength returns the number of bytes that AppendTxn appends.
func TxnLength(x *tree.Txn) int {
	const opening = 4 + wire.PasswordSize
	n := 8 + 8 + 4 + opLength(&x.Op) + 4 + opening
	for i := range x.Who {
		n += leastIdentity + len(x.Who[i].Scheme) + len(x.Who[i].ID)
	}
	for i := range x.Ops {
		n += opLength(&x.Ops[i])
	}
	return n
}

func opLength(op *tree.Op) int {
	n := leastOp + len(op.Path) + len(op.Data)
	for i := range op.ACL {
		n += leastACL + len(op.ACL[i].Scheme) + len(op.ACL[i].ID)
	}
	return n
}

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
