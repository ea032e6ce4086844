package zookeeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestChroot(t *testing.T) {
	f := onLocal(t)
	s := serviceOf(t, Config{Servers: []string{f.address}, Chroot: f.root})
	c, err := s.Dial(f.ctx, drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := newRecorder()
	if _, err := c.Children(f.ctx, "/", r.watch); err != nil {
		t.Fatal(err)
	}
	made, err := c.Create(f.ctx, "/a-", nil, drivers.Sequential)
	if err != nil || made.Name != "a-0000000000" {
		t.Errorf("create: %+v, %v", made, err)
	}
	if e := r.only(t); e.Path != "/" || e.Type != drivers.ChildrenChanged {
		t.Errorf("event %+v, want children changed of /", e)
	}
	if _, found, err := f.dial(t, drivers.Options{}).Exists(f.ctx, f.root+"/"+made.Name, nil); !found || err != nil {
		t.Errorf("below the chroot: %v, %v", found, err)
	}
	if err := c.(drivers.Flusher).Flush(f.ctx); err != nil {
		t.Error(err)
	}
}

func TestChrootMissing(t *testing.T) {
	f := onLocal(t)
	s := serviceOf(t, Config{Servers: []string{f.address}, Chroot: f.root + "/no"})
	_, err := s.Dial(f.ctx, drivers.Options{})
	if !errors.Is(err, drivers.ErrNoNode) || !strings.Contains(err.Error(), "chroot "+f.root+"/no: ") {
		t.Errorf("got %v, want %v naming the chroot", err, drivers.ErrNoNode)
	}
}

// Only the user of a session with credentials can access the nodes that it creates.
func TestCreatedForItsUser(t *testing.T) {
	f := onLocal(t)
	s := serviceOf(t, Config{Servers: []string{f.address}, Username: "ann", Password: "hunter2"})
	ann, err := s.Dial(f.ctx, drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	path := f.create(t, ann, "ann", 0)
	if _, _, err := f.dial(t, drivers.Options{}).Get(f.ctx, path, nil); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("another user got %v, want %v", err, drivers.ErrRefused)
	}
	if _, _, err := ann.Get(f.ctx, path, nil); err != nil {
		t.Errorf("its user got %v", err)
	}
}
