package document

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// Notifications have a check of their own. What the service delivers wrongly is no fault of the recipe.
func TestDeliveryHasACheck(t *testing.T) {
	bad := results.Safety{Checked: 10, Violations: 2, Undelivered: 2, Notifications: 120,
		Details: []string{"watch delivery: two notifications for deleted of /a at position 7"}}
	for _, c := range []struct {
		check   Check
		verdict results.Verdict
		why     string
	}{
		{Check{}.delivery(results.Safety{Checked: 10, Notifications: 120}, 0), results.Pass, "120 notifications, each once, in order, and before what it announces"},
		{Check{}.delivery(bad, 0), results.Fail, "violated 2 times in 120 notifications, so the figures are void: two notifications for deleted of /a at position 7"},
		{Check{}.safety(bad, 0), results.Pass, ""},
	} {
		if c.check.Verdict != c.verdict || c.check.Why != c.why {
			t.Errorf("%s: %s, %q; want %s, %q", c.check.Name, c.check.Verdict, c.check.Why, c.verdict, c.why)
		}
	}
}
