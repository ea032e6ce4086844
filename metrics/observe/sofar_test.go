package observe

import (
	"maps"
	"reflect"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// TestSoFarDecidesNothing checks that looking at an observation in progress counts what is decided,
// leaves the rest open, and does not change the report at the end.
func TestSoFarDecidesNothing(t *testing.T) {
	a := New(DefaultLimits)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	causeChange(watcher, writer, "/config", 1)
	if r := a.SoFar(); r.Traffic.Notifications != 1 || r.Traffic.Changes != 0 {
		t.Errorf("%d notifications of %d changes, want 1 of 0: the change is not complete", r.Traffic.Notifications, r.Traffic.Changes)
	}
	if p := a.Patterns()[0]; p.Path != "/config" || p.Notifications != 1 || p.Acted+p.Read+p.Waited != 0 || len(p.Fanout) > 0 {
		t.Errorf("%+v, want one notification that is open", p)
	}
	watcher.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/config"), Watch: true, Pos: 3})
	if r := a.Report(); r.Traffic.Notifications != 1 || r.Traffic.Changes != 1 {
		t.Errorf("%d notifications of %d changes, want 1 of 1", r.Traffic.Notifications, r.Traffic.Changes)
	}
	p := a.Patterns()[0]
	if want := map[string]int64{"get": 2, "set": 1}; !maps.Equal(p.Requests, want) {
		t.Errorf("requests %v, want %v", p.Requests, want)
	}
	if p.Waited != 1 || p.Acted+p.Read != 0 || p.Watches != 1 || p.Fanout.Count() != 1 {
		t.Errorf("%+v, want one change, after which the session waits again", p)
	}
}

// TestPatternsBeyondTheLimitAreOthers checks that the last pattern counts what has no pattern of its own.
func TestPatternsBeyondTheLimitAreOthers(t *testing.T) {
	limits := DefaultLimits
	limits.Patterns = 2 // the root and one more
	a := New(limits)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	for i, path := range []string{"/a", "/b", "/c"} {
		causeChange(watcher, writer, path, 2*int64(i)+1)
	}
	all := a.Patterns()
	if len(all) != 2 || all[1].Path != "others" || all[0].Notifications+all[1].Notifications != 3 {
		t.Errorf("%+v, want one pattern and others, with three notifications", all)
	}
}

// TestLookingChangesNoReport checks that the report at the end does not depend on how often an
// observation in progress was looked at, while sessions that were woken are not at rest yet.
func TestLookingChangesNoReport(t *testing.T) {
	report := func(look func(*Analysis)) observation.Report {
		a := New(DefaultLimits)
		watcher, idle, writer := newScript(a, 1), newScript(a, 2), newScript(a, 3)
		idle.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/idle"), Watch: true, Pos: 1})
		for i := range int64(20) {
			causeChange(watcher, writer, "/config", 3*i+1)
			watcher.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/other"), Pos: 3*i + 2})
			idle.call(drivers.Message{Op: drivers.OpPing, Pos: 3*i + 2})
			look(a)
		}
		return a.Report()
	}
	changes := int64(0)
	looked := report(func(a *Analysis) { changes = a.SoFar().Traffic.Changes })
	if changes < 18 {
		t.Errorf("%d changes are counted while they happen, want nearly all of 20", changes)
	}
	if got := report(func(*Analysis) {}); !reflect.DeepEqual(got, looked) {
		t.Errorf("without looking %+v\nwith it %+v", got, looked)
	}
}
