package keys

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A Space is the prefix of all keys that sessions write. Below it, a node's key is its
// depth and its path:
//
//	/a      →  prefix/1/a
//	/a/b    →  prefix/2/a/b
//	/a/b/c  →  prefix/3/a/b/c
//
// A slash in a name, which only libraries write, is %2F in the node's path.
//
// The direct children of a node are thus one range of keys, prefix/2/a/ for those of /a,
// however many nodes are below them. They can be listed, counted, compared and watched as one
// range.
type Space string

// Node returns the key of a node. The root has no key.
func (k Space) Node(path string) string {
	return string(k) + "/" + strconv.Itoa(strings.Count(path, "/")) + strings.ReplaceAll(path, slash, "/")
}

// slash stands for a slash in a name.
const slash = "%2F"

// ChildPrefix returns the prefix of the keys of a node's children. No other keys have it.
func (k Space) ChildPrefix(path string) string {
	if path == "/" {
		return string(k) + "/1/"
	}
	return string(k) + "/" + strconv.Itoa(strings.Count(path, "/")+1) + path + "/"
}

// Nodes returns the range of the keys of all nodes, at any depth: all that begin with a digit.
// It does not include the keys of sessions.
func (k Space) Nodes() (from, end string) { return string(k) + "/0", string(k) + "/:" }

// Dir returns Below without the trailing slash: what etcd's library calls a prefix, and adds a
// slash to.
func (k Space) Dir(path string) string { return strings.TrimSuffix(k.ChildPrefix(path), "/") }

// Path returns the node that has the key, or the key itself if it belongs to no node.
func (k Space) Path(key string) string {
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

// Session returns the key that a session has until it ends.
func (k Space) Session(lease int64) string {
	return string(k) + "/sessions/" + strconv.FormatInt(lease, 16)
}

var errPath = errors.New("want /name/name…")

// Check returns an error unless p is the path of a node.
func Check(p string) error {
	if p == "" || p[0] != '/' || p != "/" && path.Clean(p) != p {
		return fmt.Errorf("path %q: %w", p, errPath)
	}
	return nil
}

// Sequential returns a name that no other node has or ever will have: the given name with a
// suffix of the session's lease and the number of the session's sequential names. The suffix
// shows that the name is sequential. Its position in the order is its create revision, which
// is unknown until the node is created.
func Sequential(name string, lease, n int64) string {
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

// isNumber reports whether the text consists of base 36 digits.
func isNumber(s string) bool {
	for _, d := range []byte(s) {
		if (d < '0' || d > '9') && (d < 'a' || d > 'z') {
			return false
		}
	}
	return s != ""
}

// Child returns a child with the given name and create revision.
func Child(name string, created int64) drivers.Child {
	if !isSequential(name) {
		created = drivers.NoSeq
	}
	name = strings.ReplaceAll(name, "/", slash)
	return drivers.Child{Name: name, Seq: created}
}
