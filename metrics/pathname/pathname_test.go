package pathname

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for path, want := range map[string]string{
		"/":                        "/",
		"/controller":              "/controller",
		"/brokers/ids/17":          "/brokers/ids/#",
		"/locks/l/lock-0000000042": "/locks/l/lock-#",
		"/locks/_c_0c1e7a3b-5f0e-4a57-9d3c-0d3f1c2b9a10-lock-0000000003": "/locks/_c_#-lock-#", // Curator
		"/locks/9f86d081884c7d659a2feaa0c55ad015__lock__0000000003":      "/locks/#__lock__#",  // kazoo
		"/locks/ABCDEFGHIJKLMNOPQRSTUVWXY2-lock-0000000003":              "/locks/#-lock-#",    // this module
		"/queue/entry-100-0000000007":                                    "/queue/entry-#-#",
		"/session/0x1000a2b3c4d0001":                                     "/session/#",
		"/deadbeef":                                                      "/deadbeef", // a word, for all that is known
		"/facade":                                                        "/facade",
		"/stampede-1a2b3c/locks/lock-0000000007":                         "/stampede-#/locks/lock-#",
		"/stampede/4f2c0a9be711/lock":                                    "/stampede/#/lock",
		"/tests/run-6f9619ff-8b86-d011-b42d-00c04fc964ff/q":              "/tests/run-#/q",
		"/run-abc123/lock":                                               "/run-#/lock",
		"/node12/lock":                                                   "/node#/lock",
		"/p/dubbo%3A%2F%2F10.0.0.1%3A20880%2Forg.app%3Fside%3Dprovider":  "/p/dubbo:%2F%2F#.#.#.#:#%2Forg.app?side=provider", // Dubbo
		"/p/x%2F6f9619ff-8b86-d011-b42d-00c04fc964ff":                    "/p/x%2F#",
		"/p/a%5C%23%25%00%c3%A9":                                         "/p/a%5C%23%25%00%c3%A9",
		"/p/50%":                                                         "/p/#%",
		"/p/50%4":                                                        "/p/#%#",
		"/p/a%+1b":                                                       "/p/a%+#b",
	} {
		if got := Fold(path); got != want {
			t.Errorf("Fold(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestNamesOfLongPathsAreDistinct shortens paths that differ in the middle, at the beginning and at the end only. Those
// that differ in the very middle keep their full names.
func TestNamesOfLongPathsAreDistinct(t *testing.T) {
	same := strings.Repeat("x", 60)
	paths := []string{"/a", "/" + same + "/a/" + same, "/" + same + "/b/" + same, "/q" + same, "/r" + same, same + "/q", same + "/r", "/é" + same}
	names := Elide(paths, 32)
	if names["/a"] != "" {
		t.Errorf("the short path is named %q", names["/a"])
	}
	for _, p := range paths[1:] {
		for _, q := range paths {
			if got := Elided(names[p], q); names[p] != "" && got != (p == q) {
				t.Errorf("%q stands for %s: %v", names[p], q, got)
			}
		}
	}
	if names[paths[1]] != "" || names[paths[3]] == "" {
		t.Errorf("got the names %q, want none for those that differ in the middle only", names)
	}
	if n := len([]rune(names["/q"+same])); n != 32 {
		t.Errorf("%q has %d characters, want 32", names["/q"+same], n)
	}
}

func TestParent(t *testing.T) {
	for path, want := range map[string]string{"": "", "/": "", "/a": "/", "/a/b": "/a", "/a/": "/a", "key": "/", "a/b": "a"} {
		if got := Parent(path); got != want {
			t.Errorf("the parent of %q is %q, want %q", path, got, want)
		}
		if got := string(Parent([]byte(path))); got != want {
			t.Errorf("the parent of the bytes %q is %q, want %q", path, got, want)
		}
	}
}

// TestNamesAreTextAndStayApart shows keys of etcd, which may be any bytes: each has a name that is text on one line, and
// no two of different bytes have the same.
func TestNamesAreTextAndStayApart(t *testing.T) {
	for key, want := range map[string]string{
		"k\xff":             `k\xff`,
		"k\xfe":             `k\xfe`,
		`k\xff`:             `k\x5cxff`,
		`k\x5cxff`:          `k\x5cx5cxff`,
		"k\ufffd":           "k\ufffd",
		"k\x00\n\t\x7f\x1b": `k\x00\x0a\x09\x7f\x1b`,
		"k\u202e":           `k\u202e`,
		`k\u202e`:           `k\x5cu202e`,
		`a\b`:               `a\b`,
		"é/\xe6\x97/\u65e5": `é/\xe6\x97/日`,
	} {
		if got := Text(key); got != want {
			t.Errorf("Text(%q) = %q, want %q", key, got, want)
		}
	}
	if got, want := Fold("q\xff/17\n"), `q\xff/#\x0a`; got != want {
		t.Errorf("the pattern is %q, want %q", got, want)
	}
	keys := map[string]string{}
	for _, a := range []string{"\\", "x", "5", "c", "u", "\xff", "\x00", "é"} {
		for _, b := range []string{"", "\\", "x", "5c", "\xc3", "\xa9"} {
			for _, c := range []string{"", "xff", "\xff", "5c", "u0000"} {
				key := a + b + c
				name := Text(key)
				if other, taken := keys[name]; taken && other != key || !utf8.ValidString(name) {
					t.Errorf("%q and %q are both %q", other, key, name)
				}
				keys[name] = key
			}
		}
	}
}
