package tree

import "strings"

func lastSlash(path string) int { return strings.LastIndexByte(path, '/') }

func hasNull(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// parentPath is the path of the parent of a path with a slash in it.
func parentPath(path string) string { return path[:max(lastSlash(path), 1)] }

// fixed tells whether the path is one that the service itself needs.
func fixed(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota":
		return true
	}
	return false
}

// ValidPath tells whether ZooKeeper would take the path for a node: absolute,
// without empty or relative names, control characters, or characters that a
// UTF-16 unit cannot hold.
func ValidPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if !validName(name) {
			return false
		}
	}
	return true
}

func validName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	return strings.IndexFunc(name, forbidden) < 0
}

// forbidden takes U+FFFD with it, which stands for bytes that are no UTF-8.
func forbidden(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return true
	}
	return false
}
