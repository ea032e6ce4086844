package keys

import (
	"slices"
	"testing"
)

func TestKeys(t *testing.T) {
	k := Space("/p")
	var got []string
	for _, path := range []string{"/a", "/a/b", "/a/b/c"} {
		got = append(got, k.Node(path), k.ChildPrefix(path), k.Path(k.Node(path)))
	}
	got = append(got, k.ChildPrefix("/"), k.Path("/q/1/a"), k.Path(k.Session(10)))
	want := []string{
		"/p/1/a", "/p/2/a/", "/a",
		"/p/2/a/b", "/p/3/a/b/", "/a/b",
		"/p/3/a/b/c", "/p/4/a/b/c/", "/a/b/c",
		"/p/1/", "/q/1/a", "/p/sessions/a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNamesOfSequentialNodes(t *testing.T) {
	for name, want := range map[string]bool{
		Sequential("n-", 7587888, 35):   true,
		Sequential("", 1, 1):            true,
		Sequential("a~b.c~", 1<<62, 36): true,
		"n-0000000017":                  false,
		"~":                             false,
		"n~1":                           false,
		"n~1.":                          false,
		"n~.1":                          false,
		"n~1.A":                         false,
		"n~1.2.3":                       false,
	} {
		if got := isSequential(name); got != want {
			t.Errorf("%q is sequential: %v, want %v", name, got, want)
		}
	}
}
