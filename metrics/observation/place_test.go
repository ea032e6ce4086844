package observation

import (
	"encoding/json"
	"testing"
	"time"
)

// TestASavedPlaceProjectsAlike projects 4 watchers of a value that all want to know, of a herd and of a lock in which
// one waits for the next, before and after the place was in a file: to 1,000 clients.
func TestASavedPlaceProjectsAlike(t *testing.T) {
	settled := int64(8 * time.Millisecond)
	for name, c := range map[string]struct {
		form    Form
		woken   int64
		then    int64
		settled time.Duration
	}{
		"value":       {Form{Name: "value, watched", WaitFor: News}, 4, 1000, 2 * time.Second},
		"herd":        {Form{Name: "lock, one node", WaitFor: Turn, Herd: true}, 3, 999, 2664 * time.Millisecond},
		"predecessor": {Form{Name: "lock, predecessor", WaitFor: Turn}, 1, 1, 8 * time.Millisecond},
	} {
		p := Place{Path: "/x", Form: &c.form, Sessions: 4, Changes: 2, FanoutMax: c.woken, SettledP90: &settled}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var saved Place
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		for from, p := range map[string]Place{"observed": p, "saved": saved} {
			if now, then, settled, ok := p.Project(1000); !ok || now != c.woken || then != c.then || settled != c.settled {
				t.Errorf("%s, %s: %d now, %d then in %v, %v; want %d, %d in %v", name, from, now, then, settled, ok, c.woken, c.then, c.settled)
			}
		}
	}
}
