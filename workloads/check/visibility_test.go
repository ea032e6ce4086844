package check

import (
	"slices"
	"testing"
	"time"
)

// untimed returns Steps of a process that has all clients, in which no time passes.
func untimed() *Steps { return NewSteps(func(time.Time) time.Duration { return 0 }) }

// TestVisibility checks the findings about what two clients see of two values. The first value was
// updated once, the second twice.
func TestVisibility(t *testing.T) {
	type sight struct {
		client, value int
		data          string
	}
	all := []sight{{0, 0, "1"}, {0, 1, "3"}, {1, 0, "1"}, {1, 1, "3"}}
	for _, c := range []struct {
		name string
		seen []sight
		want []string
	}{
		{"every client sees the last", all, nil},
		{"some see what came before", append([]sight{{0, 0, "0"}, {1, 1, "0"}, {1, 1, "2"}}, all...), nil},
		{"the same again", append(all, all...), nil},
		{"what was never made", append(slices.Clone(all), sight{0, 0, "2"}),
			[]string{`violation: client 1 saw "2", which was never written`}},
		{"what was made of another value", append([]sight{{1, 1, "1"}}, all...),
			[]string{`violation: client 2 saw "1", which was never written`}},
		{"what is no update", append(slices.Clone(all), sight{1, 0, "x"}, sight{1, 0, ""}),
			[]string{`violation: client 2 saw "x", which was never written`, `violation: client 2 saw "", which was never written`}},
		{"an older one after a newer one", append(slices.Clone(all), sight{1, 1, "2"}, sight{1, 1, "3"}),
			[]string{"violation: client 2 saw update 2 after 3"}},
		{"nothing", all[:2],
			[]string{"violation: client 2 never saw update 1; the last one it saw is -1", "violation: client 2 never saw update 3; the last one it saw is -1"}},
		{"not the last", append(slices.Clone(all[1:]), sight{0, 0, "0"}),
			[]string{"violation: client 1 never saw update 1; the last one it saw is 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewVisibility(2, 2, untimed())
			for number, value := range []int{0, 1, 1} {
				v.UpdateBegins(value, int64(number+1))
			}
			for _, s := range c.seen {
				v.Saw(s.client, v.clients[s.client], s.value, []byte(s.data))
			}
			v.CheckAll()
			verdict := v.Verdict()
			if !slices.Equal(verdict.Details, c.want) || verdict.Violations != int64(len(c.want)) {
				t.Errorf("%d violations, %q; want %q", verdict.Violations, verdict.Details, c.want)
			}
			if want := int64(len(c.seen) + 4); verdict.Checked != want {
				t.Errorf("%d things were checked, want %d", verdict.Checked, want)
			}
		})
	}
}

// TestANewViewMaySeeOlderUpdates checks that a new session may see an older update than the session before
// it.
func TestANewViewMaySeeOlderUpdates(t *testing.T) {
	v := NewVisibility(1, 1, untimed())
	v.UpdateBegins(0, 1)
	v.Saw(0, v.clients[0], 0, UpdateData(1))
	v.Saw(0, v.OpenView(0), 0, UpdateData(0))
	if verdict := v.Verdict(); verdict.Violations != 0 {
		t.Errorf("%q, want no violation", verdict.Details)
	}
}

// TestTheJudgeOfUpdatesForgets judges a long run. What the judge remembers does not grow, and it still finds
// an update that was seen before it was made.
func TestTheJudgeOfUpdatesForgets(t *testing.T) {
	var j UpdateJudge
	for number := range int64(1000) {
		for _, kind := range []StepKind{Updating, Updating, Saw} { // an attempt fails
			j.Take(TimedStep{Step: Step{Kind: kind, Turn: number + 1, Value: number % 2}})
		}
	}
	for _, made := range j.made {
		if len(made) > keptUpdates {
			t.Errorf("%d updates of a value are remembered", len(made))
		}
	}
	if s := j.Verdict(); s.Violations != 0 {
		t.Errorf("%+v, want no violation", s)
	}
	if j.Take(TimedStep{Step: Step{Kind: Saw, Turn: 1001}}); j.Verdict().Violations != 1 {
		t.Errorf("%+v, want a violation", j.Verdict())
	}
}
