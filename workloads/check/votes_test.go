package check

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

func TestVotes(t *testing.T) {
	for _, c := range []struct {
		name string
		// "1+" is the first site about to vote to commit, "1-" to abort, "1c" that it learns
		// commit, "1a" that it learns abort, "1!" that its session is disturbed.
		script     string
		violations int64
		detail     string
	}{
		{"all commit", "1+ 2+ 3+ 1c 3c 2c", 0, ""},
		{"one vote to abort is enough", "1+ 2- 1a 3+ 3a 2a", 0, ""},
		{"a site that died aborts", "1+ 3+ 2! 1a 3a 2+ 2a", 0, ""},
		{"a vote stands", "1- 1+ 2+ 3+ 1a 2a 3a", 0, ""},
		{"they decide differently", "1+ 2- 3+ 1a 2a 3c", 1, "violation: client 3 decided otherwise than another client"},
		{"a vote to abort is ignored", "1+ 2- 3+ 1c", 1, "violation: client 1 committed although a site voted to abort"},
		{"one has not voted", "1+ 3+ 3c 2+", 1, "violation: client 3 committed before all sites voted"},
		{"no site wanted to abort", "1+ 2+ 3+ 2a", 1, "violation: client 2 aborted although no site voted to abort"},
		{"a death excuses no commit", "1+ 3+ 2! 3c", 1, "violation: client 3 committed before all sites voted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewVotes(3)
			var clients [3]testClient
			for step := range strings.FieldsSeq(c.script) {
				s := &clients[step[0]-'1']
				s.index = int(step[0] - '1')
				switch step[1] {
				case '+', '-':
					b.Vote(s, step[1] == '+')
				case 'c', 'a':
					b.Decided(s, step[1] == 'c')
				case '!':
					s.disturb()
				}
			}
			var safety metrics.Safety
			JudgeVotes(&safety, b, func(s Client) bool { return s.Disturbances() > 0 })
			if safety.Violations != c.violations || safety.Checked != int64(len(b.decisions)) {
				t.Errorf("%d violations in %d checks, want %d in %d", safety.Violations, safety.Checked, c.violations, len(b.decisions))
			}
			if got := strings.Join(safety.Details, "; "); got != c.detail {
				t.Errorf("details %q, want %q", got, c.detail)
			}
		})
	}
}
