package faults

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestSilences checks of each verb whether it can be why the session of its target has ended, while it lasts and for a
// session's life after it is undone, and of a client that it does not target.
func TestSilences(t *testing.T) {
	const life = 10 * time.Second
	for text, want := range map[string]bool{
		"at=1s freeze client=1": true, "at=1s silence client=1": true, "at=1s delay client=1 by=5ms": false, "at=1s delay client=1 by=4s": false,
		"at=1s delay client=1 by=5s": true, "at=1s throttle client=1 to=640k": false, "at=1s throttle client=1 to=100": true,
		"at=1s expire client=1": false, "at=1s cut client=1": false, "at=1s drop client=1": false, "at=1s lose client=1 reply=create": false,
		"at=1s kill member=1": true, "at=1s stop member=1": true, "at=1s isolate member=1": true, "at=1s delay member=1 by=1ms": false,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		bubble.Test(t, func(t *testing.T) {
			s, target, other := NewSilences(life), &elsewhere{}, &elsewhere{}
			done := func(a FaultAction) {
				d := Done{FaultAction: a}
				if f.Target.servers() {
					d.Servers = []int{0}
				} else {
					d.Clients = []Client{target}
				}
				s.Record(d)
			}
			done(f.Steps[0])
			time.Sleep(time.Minute)
			if s.Explain(target) != want || s.Explain(other) != (want && f.Target.servers()) {
				t.Errorf("%s: its target %v, another client %v", text, s.Explain(target), s.Explain(other))
			}
			if undo, _ := find(f.Steps[0].Verb); undo.undone != "" {
				done(FaultAction{Verb: undo.undone})
			}
			time.Sleep(life - 1)
			if s.Explain(target) != want {
				t.Errorf("%s: undone less than a session's life ago: %v", text, !want)
			}
			time.Sleep(time.Nanosecond)
			if s.Explain(target) {
				t.Errorf("%s: undone a session's life ago", text)
			}
		})
		for at, explained := range map[time.Duration]bool{time.Second - 1: false, time.Second: want, time.Minute + life - 1: want, time.Minute + life: false} {
			if got := (Schedule{f}).Silences(at, time.Minute, life); got != explained {
				t.Errorf("%s at %v of a window of a minute: %v", text, at, got)
			}
		}
	}
}
