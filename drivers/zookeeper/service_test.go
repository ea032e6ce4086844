package zookeeper

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestChroot(t *testing.T) {
	f := onLocal(t)
	s, err := New(Config{Servers: []string{f.address}, Chroot: f.root})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := c.(drivers.Fencer).Fence(f.ctx); err != nil {
		t.Error(err)
	}
}

func TestChrootMissing(t *testing.T) {
	f := onLocal(t)
	s, err := New(Config{Servers: []string{f.address}, Chroot: f.root + "/no"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Dial(f.ctx, drivers.Options{})
	if !errors.Is(err, drivers.ErrNoNode) || !strings.Contains(err.Error(), "chroot "+f.root+"/no: ") {
		t.Errorf("got %v, want %v naming the chroot", err, drivers.ErrNoNode)
	}
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "servers: "},
		{Config{Servers: []string{"a", ""}}, "servers: "},
		{Config{Servers: []string{"a"}, Chroot: "b"}, `chroot "b": `},
		{Config{Servers: []string{"a"}, Chroot: "/b/"}, `chroot "/b/": `},
		{Config{Servers: []string{"a"}, Username: "ann"}, "username and password: "},
		{Config{Servers: []string{"a"}, Username: "a:b", Password: "c"}, "username: "},
	} {
		if _, err := New(tc.cfg); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want an error that begins with %q", tc.cfg, err, tc.want)
		}
	}
	s, err := New(Config{Servers: []string{"a", "b:1", "::1", "[::1]", "[::1]:2"}, Chroot: "/b"})
	want := []string{"a:2181", "b:1", "[::1]:2181", "[::1]:2181", "[::1]:2"}
	if err != nil || !slices.Equal(s.servers, want) {
		t.Errorf("servers %v, %v; want %v", s.servers, err, want)
	}
}

func TestSequence(t *testing.T) {
	for name, want := range map[string]int64{
		"lock-0000000000":  0,
		"lock-0000000012":  12,
		"0000000012":       12,
		"lock-2147483647":  2147483647,
		"lock--2147483648": -2147483648, // the wrap
		"lock-2147483648":  -2147483648,
		"lock--1000000000": -1000000000,
		"lock--000000005":  -5,
		"lock9999999999":   drivers.NoSeq, // too large for either
		"lock-9999999999":  drivers.NoSeq,
		"lock-12":          drivers.NoSeq,
		"lock-00000000x1":  drivers.NoSeq,
		"a-x23456789":      drivers.NoSeq,
		"":                 drivers.NoSeq,
	} {
		if got := sequence(name); got != want {
			t.Errorf("sequence(%q) = %d, want %d", name, got, want)
		}
	}
}

// What a session with credentials makes is closed to everybody else.
func TestCreatedForItsUser(t *testing.T) {
	f := onLocal(t)
	s, err := New(Config{Servers: []string{f.address}, Username: "ann", Password: "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := s.Dial(f.ctx, drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	path := f.create(t, ann, "ann", 0)
	if _, _, err := f.dial(t, drivers.Options{}).Get(f.ctx, path, nil); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("somebody else got %v, want %v", err, drivers.ErrRefused)
	}
	if _, _, err := ann.Get(f.ctx, path, nil); err != nil {
		t.Errorf("its user got %v", err)
	}
}
