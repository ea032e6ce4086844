package etcd

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A keyspace is the prefix of all keys that we make. Below it a node's key is
// its depth and its path:
//
//	/a      →  prefix/1/a
//	/a/b    →  prefix/2/a/b
//	/a/b/c  →  prefix/3/a/b/c
//
// A slash in a name, which only libraries make, is written %2F in the node's path.
//
// So the direct children of a node are one range of keys, prefix/2/a/ for those
// of /a, however much lies below them, and can be listed, counted, compared and
// watched as one.
type keyspace string

// node is the key of a node other than the root, which has none.
func (k keyspace) node(path string) string {
	return string(k) + "/" + strconv.Itoa(strings.Count(path, "/")) + strings.ReplaceAll(path, slash, "/")
}

// slash is a slash in a name.
const slash = "%2F"

// below is what the keys of a node's children begin with, and no other keys.
func (k keyspace) below(path string) string {
	if path == "/" {
		return string(k) + "/1/"
	}
	return string(k) + "/" + strconv.Itoa(strings.Count(path, "/")+1) + path + "/"
}

// nodes is the range of the keys of all nodes, however deep: whatever begins with
// a digit. Those of sessions are not in it.
func (k keyspace) nodes() (from, end string) { return string(k) + "/0", string(k) + "/:" }

// path is the node that has the key; a key that is no node's stands for itself.
func (k keyspace) path(key string) string {
	rest, ours := strings.CutPrefix(key, string(k)+"/")
	depth, path, _ := strings.Cut(rest, "/")
	names, err := strconv.Atoi(depth)
	if !ours || err != nil {
		return key
	}
	if strings.Count(path, "/") < names {
		return "/" + path
	}
	parts := strings.SplitN(path, "/", max(names, 1))
	last := &parts[len(parts)-1]
	*last = strings.ReplaceAll(*last, "/", slash)
	return "/" + strings.Join(parts, "/")
}

// session is the key that a session has for as long as it lives.
func (k keyspace) session(lease int64) string {
	return string(k) + "/sessions/" + strconv.FormatInt(lease, 16)
}

var errPath = errors.New("want /name/name…")

func checkPath(p string) error {
	if p == "" || p[0] != '/' || p != "/" && path.Clean(p) != p {
		return fmt.Errorf("path %q: %w", p, errPath)
	}
	return nil
}

// sequential is a name that no other node ever had or will have: the given one
// with a suffix of the session and of the how manieth it is of that session.
// That it is sequential can be told by the suffix; its place in the order is
// its create revision, which nobody knows before it is created.
func sequential(name string, lease, n int64) string {
	return name + "~" + strconv.FormatInt(lease, 36) + "." + strconv.FormatInt(n, 36)
}

func isSequential(name string) bool {
	tilde := strings.LastIndexByte(name, '~')
	if tilde < 0 {
		return false
	}
	lease, n, found := strings.Cut(name[tilde+1:], ".")
	return found && isNumber(lease) && isNumber(n)
}

// isNumber tells whether the text is made of the digits of base 36.
func isNumber(s string) bool {
	for _, d := range []byte(s) {
		if (d < '0' || d > '9') && (d < 'a' || d > 'z') {
			return false
		}
	}
	return s != ""
}

// named is a child by its name and create revision.
func named(name string, created int64) drivers.Child {
	if !isSequential(name) {
		created = drivers.NoSeq
	}
	name = strings.ReplaceAll(name, "/", slash)
	return drivers.Child{Name: name, Seq: created}
}
