package protected

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A line is the kind of claim that has siblings. The node's name begins with the GUID.
type line struct {
	dir, label string
	joins      bool // the neighbors are listed with the creation
}

func (l line) parent() string { return l.dir }

func (l line) create(ctx context.Context, c drivers.Conn, guid string) (made drivers.Child, neighbors []drivers.Child, err error) {
	name, mode := path.Join(l.dir, guid+"-"+l.label), drivers.Ephemeral|drivers.Sequential
	if l.joins {
		return drivers.Join(ctx, c, name, nil, mode)
	}
	made, err = c.Create(ctx, name, nil, mode)
	return made, nil, err
}

func (l line) find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error) {
	children, err := c.Children(ctx, l.dir, nil)
	if err != nil {
		return drivers.Child{}, false, err
	}
	for _, child := range children {
		if strings.HasPrefix(child.Name, guid) {
			return child, true, nil
		}
	}
	return drivers.Child{}, false, nil
}

// A sole is the kind of claim to a node that only one client can have. The node's data is
// the GUID.
type sole struct{ path string }

func (s sole) parent() string { return path.Dir(s.path) }

func (s sole) create(ctx context.Context, c drivers.Conn, guid string) (made drivers.Child, neighbors []drivers.Child, err error) {
	made, err = c.Create(ctx, s.path, []byte(guid), drivers.Ephemeral)
	return made, nil, err
}

func (s sole) find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error) {
	data, _, err := c.Get(ctx, s.path, nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return drivers.Child{}, false, nil
	}
	mine := err == nil && string(data) == guid
	return drivers.Child{Name: path.Base(s.path), Seq: drivers.NoSeq}, mine, err
}
