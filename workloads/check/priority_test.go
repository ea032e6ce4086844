package check

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// wants returns the steps of one hold with a priority, acknowledged one millisecond after it was asked for.
func wants(client int, priority int64, asked, granted, releasing time.Duration) []TimedStep {
	steps := round(client, 1, asked, granted, releasing)
	steps[0].Value = priority
	return slices.Insert(steps, 1, exactly(asked+ms, Step{Kind: Queued, Client: client}))
}

// gone replaces the grant and what follows by a client that gives up then.
func gone(steps []TimedStep, giveUp Step) []TimedStep {
	at, client := steps[2].Earliest, steps[0].Client
	giveUp.Kind, giveUp.Client = GaveUp, client
	return append(steps[:2:2], exactly(at, Step{Kind: Leaving, Client: client}), exactly(at+ms, giveUp))
}

// TestFindingsOfPriorities judges requests of up to three clients.
func TestFindingsOfPriorities(t *testing.T) {
	const asked, release = "which waited when it asked", "which waited before the last release"
	holder := func() []TimedStep { return wants(2, 5, 0, 1*ms, 20*ms) }
	last := func(change func([]TimedStep)) []TimedStep { h := holder(); change(h); return h }
	for _, c := range []struct {
		name   string
		steps  []TimedStep
		detail string // of the one violation; "" if there is none
	}{
		{"in order", slices.Concat(holder(), wants(0, 5, 2*ms, 21*ms, 30*ms), wants(1, 5, 4*ms, 31*ms, 40*ms)), ""},
		{"the urgent one first", slices.Concat(holder(), wants(0, 5, 2*ms, 31*ms, 40*ms), wants(1, 0, 4*ms, 21*ms, 30*ms)), ""},
		{"passed by one as urgent", slices.Concat(holder(), wants(0, 5, 2*ms, 31*ms, 40*ms), wants(1, 5, 4*ms, 21*ms, 30*ms)), asked},
		{"passed by one less urgent", slices.Concat(holder(), wants(0, 0, 2*ms, 31*ms, 40*ms), wants(1, 5, 4*ms, 21*ms, 30*ms)), asked},
		{"asked at the same time", slices.Concat(holder(), wants(0, 5, 2*ms, 31*ms, 40*ms), wants(1, 5, 2500*time.Microsecond, 21*ms, 30*ms)), ""},
		{"a priority ignored", slices.Concat(holder(), wants(0, 5, 2*ms, 21*ms, 30*ms), wants(1, 0, 4*ms, 31*ms, 40*ms)), release},
		{"urgent, but after the release", slices.Concat(holder(), wants(0, 5, 2*ms, 21*ms, 30*ms), wants(1, 0, 19500*time.Microsecond, 31*ms, 40*ms)), ""},
		{"after a disturbed holder", slices.Concat(last(func(h []TimedStep) { h[4].Disturbed = true }), wants(0, 5, 2*ms, 21*ms, 30*ms), wants(1, 0, 4*ms, 31*ms, 40*ms)), ""},
		{"after a deposed holder", slices.Concat(last(func(h []TimedStep) { h[4].Deposed = true }), wants(0, 5, 2*ms, 21*ms, 30*ms), wants(1, 0, 4*ms, 31*ms, 40*ms)), ""},
		{"readers in any order", slices.Concat(holder(), share(wants(0, 5, 2*ms, 31*ms, 40*ms)), share(wants(1, 5, 4*ms, 21*ms, 40*ms))), ""},
		{"a reader passed by a writer", slices.Concat(holder(), share(wants(0, 5, 2*ms, 31*ms, 40*ms)), wants(1, 5, 4*ms, 21*ms, 30*ms)), asked},
		{"starved until it gives up", slices.Concat(holder(), gone(wants(0, 5, 2*ms, 31*ms, 0), Step{}), wants(1, 5, 4*ms, 21*ms, 30*ms)), asked},
		{"passed after it left", slices.Concat(holder(), gone(wants(0, 5, 2*ms, 10*ms, 0), Step{}), wants(1, 5, 4*ms, 21*ms, 30*ms)), ""},
		{"passed after its session was lost", slices.Concat(holder(), gone(wants(0, 5, 2*ms, 31*ms, 0), Step{Disturbed: true}), wants(1, 5, 4*ms, 21*ms, 30*ms)), ""},
		{"deposed before it knew its turn", slices.Concat(holder(), gone(wants(0, 5, 2*ms, 31*ms, 0), Step{Deposed: true}), wants(1, 5, 4*ms, 21*ms, 30*ms)), ""},
	} {
		j := NewPriorityJudge()
		for _, s := range InOrder(c.steps) {
			j.Take(s)
		}
		s := j.Verdict()
		if found := s.Violations == 1 && len(s.Details) == 1 && strings.HasSuffix(s.Details[0], c.detail); c.detail != "" && !found || c.detail == "" && s.Violations != 0 {
			t.Errorf("%s: %+v, want %q", c.name, s, c.detail)
		}
	}
}
