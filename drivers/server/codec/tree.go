package codec

import (
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
