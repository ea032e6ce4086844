package zookeeper

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

func TestNodes(t *testing.T) {
	f := onLocal(t)
	c := f.dial(t, drivers.Options{})
	p := f.create(t, c, "a", 0)
	st, err := c.Set(f.ctx, p, []byte("x"), 0)
	if err != nil || st.Version != 1 || st.Modified <= st.Created {
		t.Fatalf("set: %+v, %v; want version 1, modified after it was created", st, err)
	}
	data, got, err := c.Get(f.ctx, p, nil)
	if err != nil || !bytes.Equal(data, []byte("x")) || got != st {
		t.Errorf("get: %q %+v, %v; want %q %+v", data, got, err, "x", st)
	}
	child, err := c.Create(f.ctx, p+"/s-", nil, drivers.Sequential|drivers.Ephemeral)
	if err != nil || child != (drivers.Child{Name: "s-0000000000", Seq: 0}) {
		t.Errorf("create sequential: %+v, %v", child, err)
	}
	children, err := c.Children(f.ctx, p, nil)
	if err != nil || len(children) != 1 || children[0] != child {
		t.Errorf("children: %v, %v; want %v", children, err, child)
	}
	st, found, err := c.Exists(f.ctx, p+"/"+child.Name, nil)
	if err != nil || !found || !st.Ephemeral {
		t.Errorf("exists: %+v %v, %v; want an ephemeral node", st, found, err)
	}
	if err := errors.Join(c.Sync(f.ctx, p), c.Flush(f.ctx), c.Delete(f.ctx, p+"/"+child.Name, 0)); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	f := onLocal(t)
	c := f.dial(t, drivers.Options{})
	p := f.create(t, c, "a", 0)
	e := f.create(t, c, "e", drivers.Ephemeral)
	f.create(t, c, "a/b", 0)
	for _, tc := range []struct {
		do       func() error
		sentinel error
		native   error
		text     string
	}{
		{func() error { _, err := c.Create(f.ctx, p, nil, 0); return err },
			drivers.ErrNodeExists, zk.ErrNodeExists, "create " + p + ": node exists"},
		{func() error { _, err := c.Create(f.ctx, e+"/x", nil, 0); return err },
			drivers.ErrNoChildrenForEphemerals, zk.ErrNoChildrenForEphemerals,
			"create " + e + "/x: ephemeral nodes have no children"},
		{func() error { _, _, err := c.Get(f.ctx, p+"/no", nil); return err },
			drivers.ErrNoNode, zk.ErrNoNode, "get " + p + "/no: no such node"},
		{func() error { _, err := c.Set(f.ctx, p, nil, 7); return err },
			drivers.ErrBadVersion, zk.ErrBadVersion, "set " + p + ": version does not match"},
		{func() error { return c.Delete(f.ctx, p, drivers.AnyVersion) },
			drivers.ErrNotEmpty, zk.ErrNotEmpty, "delete " + p + ": node has children"},
		{func() error { return c.Sync(f.ctx, "no slash") },
			zk.ErrInvalidPath, zk.ErrInvalidPath, "sync no slash: zk: invalid path"},
	} {
		err := tc.do()
		if !errors.Is(err, tc.sentinel) || !errors.Is(err, tc.native) || err.Error() != tc.text {
			t.Errorf("got %v, want %q matching %v and %v", err, tc.text, tc.sentinel, tc.native)
		}
	}
}
