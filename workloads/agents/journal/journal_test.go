package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// sent returns the journal as the coordinator reads it.
func sent(t *testing.T, j *Journal) *Recording {
	t.Helper()
	var out bytes.Buffer
	n, err := j.WriteTo(&out)
	if err != nil || n != int64(out.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, out.Len(), err)
	}
	r, err := Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counts returns what must be exact in a herd.
func counts(h metrics.Herd) map[string]int64 {
	all := map[string]int64{"triggers": h.Triggers, "foreign": h.Foreign, "notifications": h.Notifications, "largest": h.Largest, "leftover": h.Leftover}
	for woken, writes := range h.Fanout {
		all[fmt.Sprintf("writes that woke %d", woken)] = writes
	}
	return all
}

// wholeRun is a window around everything.
var wholeRun = Window{Begin: 0, End: time.Hour}

// TestReplayEqualsOneMeter divides the clients of a service among agents whose clocks are wrong, by more than
// the time between packets. The fan-out must be that of a meter which saw all packets itself.
func TestReplayEqualsOneMeter(t *testing.T) {
	runs := uint64(100)
	if testing.Short() {
		runs = 20
	}
	const wrong = 5 * time.Millisecond
	for _, positions := range []bool{true, false} {
		for seed := range runs {
			agents := 1 + int(seed%5)
			m, journals, offsets := newModel(seed, 2+int(seed%7), agents, positions)
			m.window.Open(time.Unix(0, int64(m.now)))
			m.run(1500)
			m.window.Close(time.Unix(0, int64(m.now)+1))
			var parts []AgentJournal
			for i, j := range journals {
				e := time.Duration(m.rng.Int64N(int64(2*wrong))) - wrong
				parts = append(parts, AgentJournal{sent(t, j), func(at time.Duration) time.Duration { return at - offsets[i] + e }, wrong})
			}
			got, err := Replay(parts, wholeRun)
			if err != nil {
				t.Fatal(err)
			}
			want := m.meter.Herd()
			if d := cmp.Diff(counts(want), counts(got)); d != "" || want.Notifications < 20 || want.Foreign > 0 {
				t.Fatalf("seed %d, %d agents, positions %v (-one meter +replay):\n%s\n%d notifications, %d triggers of strangers",
					seed, agents, positions, d, want.Notifications, want.Foreign)
			}
			if far := time.Duration(got.Drain.Max()-want.Drain.Max()) - 2*wrong; far > wrong/10 {
				t.Errorf("seed %d: the longest drain is %d ns, want %d to within %v", seed, got.Drain.Max(), want.Drain.Max(), 2*wrong)
			}
		}
	}
}

// TestAMissingPacketIsSeen leaves out the journal of one agent: the test above can fail.
func TestAMissingPacketIsSeen(t *testing.T) {
	m, journals, offsets := newModel(3, 6, 2, true)
	m.window.Open(time.Unix(0, int64(m.now)))
	m.run(1500)
	got, err := Replay([]AgentJournal{{sent(t, journals[0]), func(at time.Duration) time.Duration { return at - offsets[0] }, 0}}, wholeRun)
	if err != nil {
		t.Fatal(err)
	}
	if want := counts(m.meter.Herd()); cmp.Equal(want, counts(got)) {
		t.Errorf("half of the packets give %v, as all of them do", want)
	}
}

// TestReplayOfAWindow counts the writes that woke clients in a part of the run.
func TestReplayOfAWindow(t *testing.T) {
	now := time.Duration(0)
	j := New(func() time.Duration { return now })
	nothing := probeFunc(func(drivers.Message) {})
	watcher, writer := j.Probe(7, nothing), j.Probe(9, nothing)
	for i := range int64(10) { // a write each second
		now = time.Duration(i) * time.Second
		both := func(p drivers.Probe, m drivers.Message) {
			for _, m.Kind = range []drivers.MessageKind{drivers.Request, drivers.Reply} {
				p.Message(m)
			}
		}
		both(watcher, drivers.Message{Op: drivers.OpGet, Path: []byte("/n"), Watch: true, Pos: i})
		watcher.Message(drivers.Message{Kind: drivers.Notification, Path: []byte("/n"), Event: drivers.DataChanged})
		both(writer, drivers.Message{Op: drivers.OpSet, Path: []byte("/n"), Pos: i + 1})
	}
	h, err := Replay([]AgentJournal{{sent(t, j), func(at time.Duration) time.Duration { return at }, 0}}, Window{Begin: 2500 * time.Millisecond, End: 6500 * time.Millisecond})
	if err != nil || h.Triggers != 4 || h.Notifications != 4 || h.Foreign != 0 {
		t.Errorf("%d notifications of %d triggers, %d of strangers, %v; want 4 of 4 and 0", h.Notifications, h.Triggers, h.Foreign, err)
	}
}

type probeFunc func(drivers.Message)

func (f probeFunc) Message(m drivers.Message) { f(m) }

// TestAllFieldsAreKept records a packet with all that the meter needs.
func TestAllFieldsAreKept(t *testing.T) {
	at := 5 * time.Second
	j := New(func() time.Duration { at += time.Second; return at })
	var passed []drivers.Message
	p := j.Probe(300, probeFunc(func(m drivers.Message) { passed = append(passed, m) }))
	all := []drivers.Message{
		{Kind: drivers.Request, Op: drivers.OpCreate, Path: []byte("/a"), Mode: drivers.Ephemeral | drivers.Sequential},
		{Kind: drivers.Reply, Op: drivers.OpExists, Path: []byte("/a"), Watch: true, Err: drivers.ErrNoNode, Pos: 1 << 40},
		{Kind: drivers.Notification, Event: drivers.ChildrenChanged, Path: []byte("/a/b"), Pos: 7},
		{Kind: drivers.Reply, Op: drivers.OpMulti, Err: drivers.ErrUnsupported, Parts: []drivers.TxnOp{
			{Op: drivers.OpDelete, Path: []byte("/a/b"), Err: drivers.ErrNoNode}, {Op: drivers.OpCreate, Path: []byte("/c"), Mode: drivers.Ephemeral}}},
		{Kind: drivers.Cut},
	}
	for _, m := range all {
		p.Message(m)
	}
	p.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpPing}) // is not kept
	r := reader{rest: sent(t, j).text}
	for i, want := range all {
		if !r.next() {
			t.Fatalf("only %d entries: %v", i, r.err)
		}
		if r.session != 300 || r.entry.at != time.Duration(6+i)*time.Second {
			t.Errorf("entry %d is of session %d at %v, want 300 and %v", i, r.session, r.entry.at, time.Duration(6+i)*time.Second)
		}
		if d := cmp.Diff(want, r.message, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) }),
			cmp.Transformer("text", func(b []byte) string { return string(b) })); d != "" {
			t.Errorf("entry %d (-want +got):\n%s", i, d)
		}
	}
	if r.next() || r.err != nil || len(passed) != len(all)+1 {
		t.Errorf("a further entry, or %v; %d packets were passed on, want %d", r.err, len(passed), len(all)+1)
	}
}

// TestAFullJournalIsIncomplete fills a journal.
func TestAFullJournalIsIncomplete(t *testing.T) {
	j := New(func() time.Duration { return 0 })
	j.limit = 1000
	p := j.Probe(1, probeFunc(func(drivers.Message) {}))
	for range 1000 {
		p.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Path: []byte("/a")})
	}
	r := sent(t, j)
	if len(r.text) > 1100 {
		t.Errorf("it has %d bytes, want about 1000", len(r.text))
	}
	if _, err := Replay([]AgentJournal{{Journal: r, Time: func(at time.Duration) time.Duration { return at }}}, wholeRun); !errors.Is(err, ErrIncomplete) {
		t.Errorf("got %v, want %v", err, ErrIncomplete)
	}
}

func TestDamagedJournals(t *testing.T) {
	m, journals, _ := newModel(1, 3, 1, true)
	m.run(200)
	var out bytes.Buffer
	if _, err := journals[0].WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "no gzip": "journal", "cut off": out.String()[:out.Len()/2]} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, errFormat) {
			t.Errorf("%s: got %v, want %v", name, err, errFormat)
		}
	}
	whole := sent(t, journals[0])
	whole.text = whole.text[:len(whole.text)-1]
	if _, err := Replay([]AgentJournal{{Journal: whole, Time: func(at time.Duration) time.Duration { return at }}}, wholeRun); !errors.Is(err, errFormat) {
		t.Errorf("without its last byte: got %v, want %v", err, errFormat)
	}
}

// FuzzReplay replays any entries: the result is a herd or an error.
func FuzzReplay(f *testing.F) {
	m, journals, _ := newModel(2, 3, 1, true)
	m.run(60)
	f.Add(journals[0].text)
	f.Add([]byte{1, 1, 1, 1, 0, 0, 8, 2, 0, 1, '/', 200})
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := Replay([]AgentJournal{{Journal: &Recording{text: text}, Time: func(at time.Duration) time.Duration { return at }}}, wholeRun)
		if err == nil && h.Notifications < h.Triggers {
			t.Errorf("%d notifications of %d triggers", h.Notifications, h.Triggers)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	j := New(func() time.Duration { return 0 })
	p := j.Probe(1, probeFunc(func(drivers.Message) {}))
	m := drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Path: []byte("/stampede/run/lock/n-0000000001"), Pos: 5}
	b.ReportAllocs()
	for b.Loop() {
		p.Message(m)
	}
}
