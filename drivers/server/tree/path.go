package tree

import "strings"

func lastSlash(path string) int { return strings.LastIndexByte(path, '/') }

func hasNull(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// parentPath returns the parent of a path that contains a slash.
func parentPath(path string) string { return path[:max(lastSlash(path), 1)] }

// fixed reports whether the path is one of the built-in nodes.
func fixed(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota":
		return true
	}
	return false
}

// ValidPath reports whether ZooKeeper accepts the path for a node: absolute, without empty or
// relative names, control characters, or characters that one UTF-16 unit cannot hold.
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

// forbidden also rejects U+FFFD, which stands for invalid UTF-8.
func forbidden(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return true
	}
	return false
}
