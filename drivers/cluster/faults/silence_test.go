package faults

import (
	"io"
	"net"
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
		"at=1s delay client=1 by=5s": true, "at=1s throttle client=1 to=640k": false,
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
			if s.Explain(target, life) != want || s.Explain(other, life) != (want && f.Target.servers()) {
				t.Errorf("%s: its target %v, another client %v", text, s.Explain(target, life), s.Explain(other, life))
			}
			if undo, _ := find(f.Steps[0].Verb); undo.undone != "" {
				done(FaultAction{Verb: undo.undone})
			}
			time.Sleep(life - 1)
			if s.Explain(target, life) != want {
				t.Errorf("%s: undone less than a session's life ago: %v", text, !want)
			}
			time.Sleep(time.Nanosecond)
			if s.Explain(target, life) {
				t.Errorf("%s: undone a session's life ago", text)
			}
		})
		for at, explained := range map[time.Duration]bool{time.Second - 1: false, time.Second: want, time.Minute + life - 1: want, time.Minute + life: false} {
			if got := (Schedule{f}).Silences(at, time.Minute, life, life); got != explained {
				t.Errorf("%s at %v of a window of a minute: %v", text, at, got)
			}
		}
	}
}

// TestServersTakeTimeToReturn checks that a fault of servers explains a silence while they start and elect, even if sessions live
// less long than that takes.
func TestServersTakeTimeToReturn(t *testing.T) {
	const life = time.Second
	for text, after := range map[string]time.Duration{"at=1s kill member=1": returnTime, "at=1s freeze client=1": life} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		bubble.Test(t, func(t *testing.T) {
			s, target := NewSilences(life), &elsewhere{}
			for _, verb := range []Verb{f.Steps[0].Verb, f.Steps[0].undoneBy(life)} {
				d := Done{FaultAction: FaultAction{Verb: verb}, Clients: []Client{target}}
				if f.Target.servers() {
					d.Servers, d.Clients = []int{0}, nil
				}
				s.Record(d)
			}
			time.Sleep(after - 1)
			if !s.Explain(target, life) {
				t.Errorf("%s: undone less than %v ago", text, after)
			}
			time.Sleep(time.Nanosecond)
			if s.Explain(target, life) {
				t.Errorf("%s: undone %v ago", text, after)
			}
		})
		for at, explained := range map[time.Duration]bool{time.Minute + after - 1: true, time.Minute + after: false} {
			if got := (Schedule{f}).Silences(at, time.Minute, life, life); got != explained {
				t.Errorf("%s at %v of a window of a minute: %v", text, at, got)
			}
		}
	}
}

// TestAThrottleExplainsWhatItHoldsBack checks that a throttle of a client explains a silence while the link holds something back,
// and until a session's life after that, and that one of members does for as long as a packet may take to pass.
func TestAThrottleExplainsWhatItHoldsBack(t *testing.T) {
	const life, rate = 10 * time.Second, 100
	slow := FaultAction{Verb: Throttle, To: rate}
	bubble.Test(t, func(t *testing.T) {
		s, target := NewSilences(life), &elsewhere{}
		near, service := net.Pipe()
		conn := target.Link().Wrap(near)
		go io.Copy(io.Discard, conn)
		go io.Copy(io.Discard, service)
		target.Link().Throttle(rate)
		s.Record(Done{FaultAction: slow, Clients: []Client{target}})
		wants := func(after time.Duration, explained bool) {
			t.Helper()
			time.Sleep(after)
			if got := s.Explain(target, time.Hour); got != explained {
				t.Errorf("%v after the throttle: the silence is explained: %v", after, got)
			}
		}
		wants(life-1, true)
		wants(1, false)
		conn.Write(make([]byte, 60*rate)) // what the client sends may be all that is on the way
		wants(time.Second, false)         // it was silent before
		service.Write(make([]byte, 60*rate))
		wants(59*time.Second+life-1, true)
		wants(time.Second+1, false)
		go func() {
			for range 40 {
				service.Write(make([]byte, 1))
				time.Sleep(life / 2)
			}
		}()
		for range 20 {
			wants(life, true)
		}
		time.Sleep(time.Minute)
		service.Close()
		conn.Close()
	})
	s := NewSilences(life)
	s.Record(Done{FaultAction: slow, Servers: []int{0}})
	passes := life + time.Duration(ahead/rate*float64(time.Second))
	if !s.Explain(&elsewhere{}, passes-time.Second) || s.Explain(&elsewhere{}, passes+time.Second) {
		t.Errorf("a throttle of members explains another silence than one of %v", passes)
	}
	f := Schedule{{At: time.Second, Steps: []FaultAction{slow}}}
	if !f.Silences(time.Minute, time.Hour, life, passes-time.Second) || f.Silences(time.Minute, time.Hour, life, passes+time.Second) {
		t.Errorf("a throttle of members that another process injects explains another silence than one of %v", passes)
	}
}
