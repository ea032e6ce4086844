package lean

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Create makes a node. Only the session's user may use it; without a user, everyone may.
func (c *Conn) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	k, err := c.do(ctx, request{op: drivers.OpCreate, code: wire.OpCreate, path: path, data: data, mode: mode})
	if err != nil {
		return drivers.Child{}, c.ensemble.User.ExplainUnsupported(err)
	}
	defer c.free(k)
	child := drivers.Child{Name: k.name, Seq: drivers.NoSeq}
	if mode&drivers.Sequential != 0 {
		asked := path[strings.LastIndexByte(path, '/')+1:]
		child.Seq, err = strconv.ParseInt(strings.TrimPrefix(child.Name, asked), 10, 64)
		if err != nil {
			return child, c.failed(&k.request, fmt.Errorf("created as %q: %w", child.Name, wire.ErrMalformed))
		}
	}
	return child, nil
}

// Delete removes a node.
func (c *Conn) Delete(ctx context.Context, path string, version int32) error {
	return c.simply(ctx, request{op: drivers.OpDelete, code: wire.OpDelete, path: path, version: version})
}

// Exists reports whether there is a node.
func (c *Conn) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	k, err := c.do(ctx, request{op: drivers.OpExists, code: wire.OpExists, path: path, watch: w})
	if err != nil {
		return drivers.Stat{}, false, err
	}
	defer c.free(k)
	return k.stat, k.answer == wire.OK, nil
}

// Get reads a node.
func (c *Conn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	k, err := c.do(ctx, request{op: drivers.OpGet, code: wire.OpGetData, path: path, watch: w})
	if err != nil {
		return nil, drivers.Stat{}, err
	}
	defer c.free(k)
	return k.bytes, k.stat, nil
}

// Set writes a node.
func (c *Conn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	k, err := c.do(ctx, request{op: drivers.OpSet, code: wire.OpSetData, path: path, data: data, version: version})
	if err != nil {
		return drivers.Stat{}, err
	}
	defer c.free(k)
	return k.stat, nil
}

// Children lists a node's children. The Seq of each is the number at the end of its name.
func (c *Conn) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	k, err := c.do(ctx, request{op: drivers.OpChildren, code: wire.OpGetChildren, path: path, watch: w})
	if err != nil {
		return nil, err
	}
	defer c.free(k)
	return k.children, nil
}

// Sync brings the server that this session is connected to up to date.
func (c *Conn) Sync(ctx context.Context, path string) error {
	return c.catchUp(ctx, request{op: drivers.OpSync, code: wire.OpSync, path: path})
}

// Flush is a sync of a path of its own. The server answers it when it has caught up with the
// leader. Before the answer it sends the notifications for all writes that it has applied.
func (c *Conn) Flush(ctx context.Context) error {
	return c.catchUp(ctx, request{op: drivers.OpFlush, code: wire.OpSync, path: wire.FlushPath})
}

// catchUp makes a sync, and repeats it as often as needed.
func (c *Conn) catchUp(ctx context.Context, r request) error {
	return c.ensemble.CatchUp(func() (int64, error) {
		k, err := c.do(ctx, r)
		if err != nil {
			return 0, err
		}
		defer c.free(k)
		return k.position, nil
	})
}

// simply makes a call that returns only an error.
func (c *Conn) simply(ctx context.Context, r request) error {
	k, err := c.do(ctx, r)
	if err == nil {
		c.free(k)
	}
	return err
}

// children reads a listing. All names are parts of one string: one allocation instead of one
// for each of thousands of names.
func children(d *wire.Decoder) []drivers.Child {
	all := make([]drivers.Child, d.Len(wire.LengthSize))
	text := string(d.Rest())
	for i := range all {
		length := len(d.Bytes())
		end := len(text) - len(d.Rest())
		name := text[end-length : end]
		all[i] = drivers.Child{Name: name, Seq: ensemble.Sequence(name)}
	}
	return all
}

func stat(d *wire.Decoder) drivers.Stat {
	var s wire.Stat
	s.Decode(d)
	return drivers.Stat{
		Version:   s.Version,
		Created:   s.Czxid,
		Modified:  s.Mzxid,
		Ephemeral: s.EphemeralOwner != 0,
	}
}
