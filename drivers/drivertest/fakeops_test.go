package drivertest

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func (c *fakeConn) Create(ctx context.Context, p string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	var child drivers.Child
	m := drivers.Message{Op: drivers.OpCreate, Path: []byte(p), Mode: mode, Size: len(data)}
	err := c.call(ctx, m, nil, func() answer {
		made, seq, err := c.f.create(c, p, data, mode)
		child = drivers.Child{Name: path.Base(made), Seq: seq}
		return answer{made: made, err: err}
	})
	switch c.f.bug {
	case createTellsNoSeq:
		child.Seq = drivers.NoSeq
	case createTellsPath:
		child.Name = p
	}
	return child, err
}

func (c *fakeConn) Delete(ctx context.Context, p string, version int32) error {
	return c.call(ctx, drivers.Message{Op: drivers.OpDelete, Path: []byte(p)}, nil, func() answer {
		return answer{err: c.f.remove(c, p, version)}
	})
}

func (c *fakeConn) Exists(ctx context.Context, p string, w drivers.Watch) (stat drivers.Stat, found bool, err error) {
	err = c.call(ctx, drivers.Message{Op: drivers.OpExists, Path: []byte(p)}, w, func() answer {
		n := c.f.nodes[p]
		if n == nil {
			return answer{missing: true}
		}
		stat, found = n.stat, true
		return answer{version: stat.Version}
	})
	return stat, found, err
}

func (c *fakeConn) Get(ctx context.Context, p string, w drivers.Watch) (data []byte, stat drivers.Stat, err error) {
	err = c.call(ctx, drivers.Message{Op: drivers.OpGet, Path: []byte(p)}, w, func() answer {
		n := c.f.read(p)
		if n == nil {
			return answer{err: drivers.ErrNoNode}
		}
		data, stat = slices.Clone(n.data), n.stat
		c.data = data
		return answer{size: len(data), version: stat.Version}
	})
	if c.f.bug == mixesAnswers {
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		data = c.data
	}
	return data, stat, err
}

func (c *fakeConn) Set(ctx context.Context, p string, data []byte, version int32) (stat drivers.Stat, err error) {
	m := drivers.Message{Op: drivers.OpSet, Path: []byte(p), Size: len(data)}
	if c.f.bug == reordersWrites {
		c.report(drivers.Message{Kind: drivers.Request, Op: drivers.OpSet})
		c.f.pause(time.Duration(len(data)%2) * time.Millisecond)
	}
	err = c.call(ctx, m, nil, func() answer {
		after, err := c.f.set(p, data, version)
		stat = after
		return answer{err: err}
	})
	return stat, err
}

func (c *fakeConn) SetAll(ctx context.Context, sets []drivers.Call) (stats []drivers.Stat, err error) {
	m := drivers.Message{Op: drivers.OpMulti}
	for _, s := range sets {
		m.Parts = append(m.Parts, drivers.TxnOp{Op: drivers.OpSet, Path: []byte(s.Path)})
	}
	err = c.call(ctx, m, nil, func() answer {
		a := answer{parts: slices.Clone(m.Parts)}
		stats, a.err = c.f.setAll(sets, a.parts)
		return a
	})
	return stats, err
}

func (c *fakeConn) Children(ctx context.Context, p string, w drivers.Watch) (children []drivers.Child, err error) {
	err = c.call(ctx, drivers.Message{Op: drivers.OpChildren, Path: []byte(p)}, w, func() answer {
		if c.f.nodes[p] == nil {
			return answer{err: drivers.ErrNoNode}
		}
		if p == "/" && c.f.bug == hidesRoot {
			return answer{}
		}
		children = c.f.below(p, "")
		return answer{version: int32(len(children))}
	})
	return children, err
}

func (c *fakeConn) Sync(ctx context.Context, p string) error {
	return c.call(ctx, drivers.Message{Op: drivers.OpSync, Path: []byte(p)}, nil, func() answer { return answer{} })
}

func (c *fakeConn) Flush(ctx context.Context) error {
	return c.call(ctx, drivers.Message{Op: drivers.OpFlush}, nil, func() answer {
		if c.late != nil {
			c.late()
		}
		return answer{}
	})
}

func (c *fakeConn) Neighbors(ctx context.Context, p string, seq int64) ([]drivers.Child, error) {
	children, err := c.Children(ctx, p, nil)
	plain := func(c drivers.Child) bool { return c.Seq == drivers.NoSeq }
	if c.f.bug == plainNeighbors && slices.ContainsFunc(children, plain) {
		children = slices.DeleteFunc(children, func(c drivers.Child) bool { return c.Seq != seq })
	}
	return children, err
}

func (c *fakeConn) Join(ctx context.Context, p string, data []byte, mode drivers.Mode) (made drivers.Child, neighbors []drivers.Child, err error) {
	made, err = c.Create(ctx, p, data, mode)
	if err != nil {
		return made, nil, err
	}
	neighbors, err = c.Neighbors(ctx, path.Dir(p), made.Seq)
	return made, neighbors, err
}
