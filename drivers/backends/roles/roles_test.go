package roles

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
)

func TestEveryBackendHasARole(t *testing.T) {
	all := All()
	for _, b := range backends.List() {
		if all[b.Role()] == nil {
			t.Errorf("%s: there is no role %q", b.Scheme, b.Role())
		}
	}
}
