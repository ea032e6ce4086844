package tree

import (
	"testing"
	"unsafe"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A node takes at most 112 bytes: the next size class of the allocator is 128.
func TestNodeIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Node{}); size > 112 {
		t.Errorf("a node takes %d bytes, want at most 112", size)
	}
}

func TestEqualAccessIsTheSame(t *testing.T) {
	list := func(id string) access {
		return accessOf([]wire.ACL{entry(wire.PermRead, "digest", "alice:hash"), entry(wire.PermAll, "digest", id)})
	}
	one, same, other := list("bob:hash"), list("bob:hash"), list("eve:hash")
	if one != same || one == other {
		t.Errorf("the same for equal lists: %v, for others: %v", one == same, one == other)
	}
}

func TestDataIsNullOrEmpty(t *testing.T) {
	if got := dataOf(nil).bytes(); got != nil {
		t.Errorf("null became %v", got)
	}
	if got := dataOf([]byte{}).bytes(); got == nil || len(got) != 0 {
		t.Errorf("empty became %#v", got)
	}
	if got := dataOf([]byte("abc")[:2:3]).bytes(); string(got) != "ab" || cap(got) != 2 {
		t.Errorf("got %q with room for %d, want ab and no room", got, cap(got))
	}
}
