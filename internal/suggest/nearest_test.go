package suggest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/internal/suggest"
)

func TestUnknownNamesTheNearestOrAll(t *testing.T) {
	forms := []string{"predecessor", "one-node", "children-watch", "poll"}
	for _, c := range []struct{ got, want string }{
		{"predecesor", `unknown form "predecesor": did you mean "predecessor"?`},
		{"One_Node", `unknown form "One_Node": did you mean "one-node"?`},
		{"pol", `unknown form "pol": did you mean "poll"?`},
		{"child", `unknown form "child": did you mean "children-watch"?`},
		{"zebra", `unknown form "zebra": there is predecessor, one-node, children-watch, poll`},
		{"", `unknown form "": there is predecessor, one-node, children-watch, poll`},
	} {
		if err := suggest.Unknown("form", c.got, forms); err.Error() != c.want {
			t.Errorf("Unknown(%q)\n got %v\nwant %v", c.got, err, c.want)
		}
	}
}
