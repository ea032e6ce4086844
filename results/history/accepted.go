package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// An Acceptance says that a change is known and meant, and why: it is no regression any more.
type Acceptance struct {
	Figure string    `json:"figure"` // as it is named in thresholds
	Result string    `json:"result"` // the id of the first result after the change
	Reason string    `json:"reason"`
	At     time.Time `json:"accepted"`
}

// ReadAccepted reads acceptances, one in each line.
func ReadAccepted(r io.Reader) (all []Acceptance, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var a Acceptance
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if a.Figure == "" || a.Result == "" || a.Reason == "" {
			return nil, fmt.Errorf("line %d: want a figure, a result and a reason", n)
		}
		all = append(all, a)
	}
	return all, lines.Err()
}

// Accepted returns the acceptance of a change of the series. The place of a change may still move a little with the
// results that follow, so an acceptance of a result near it counts.
func (s *Series) Accepted(c Change) (Acceptance, bool) {
	around := s.Points[max(0, c.At-near):min(len(s.Points), c.At+near+1)]
	i := slices.IndexFunc(s.Acceptances, func(a Acceptance) bool {
		return slices.ContainsFunc(around, func(p Point) bool { return p.ID == a.Result })
	})
	if i < 0 {
		return Acceptance{}, false
	}
	return s.Acceptances[i], true
}
