package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A diary records the steps and their targets.
type diary struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf("%v ", time.Since(d.start))+fmt.Sprintf(format, args...))
}

// A server is a simulated member of an ensemble.
type server struct {
	*diary
	name   string
	leads  func() bool
	broken error
}

func (s *server) Name() string    { return s.name }
func (s *server) Address() string { return s.name }
func (s *server) Leads(context.Context) (bool, error) {
	return s.leads(), nil
}
func (s *server) Kill() error                   { s.note("kill %s", s.name); return s.broken }
func (s *server) Restart(context.Context) error { s.note("restart %s", s.name); return s.broken }
func (s *server) Stop() error                   { s.note("stop %s", s.name); return s.broken }
func (s *server) Continue() error               { s.note("continue %s", s.name); return s.broken }
func (s *server) Isolate(d drivers.Direction) error {
	s.note("isolate %s%s", s.name, map[drivers.Direction]string{drivers.In: " in", drivers.Out: " out"}[d])
	return s.broken
}
func (s *server) Delay(by time.Duration) error { s.note("delay %s by %v", s.name, by); return s.broken }
func (s *server) Throttle(rate int64) error {
	s.note("throttle %s to %d", s.name, rate)
	return s.broken
}
func (s *server) Restore() error    { s.note("restore %s", s.name); return s.broken }
func (s *server) CanFillDisk() bool { return true }
func (s *server) FillDisk() error   { s.note("fill-disk %s", s.name); return s.broken }
func (s *server) CanHangDisk() bool { return true }
func (s *server) HangDisk(context.Context) error {
	s.note("hang-disk %s", s.name)
	return s.broken
}
func (s *server) ThawDisk() error { s.note("thaw %s", s.name); return s.broken }

// A client is a simulated session.
type client struct {
	*diary
	number int
	line   faults.Link
	frozen atomic.Bool
}

func (c *client) Link() *faults.Link           { return &c.line }
func (c *client) Expire(context.Context) error { c.note("expire %d", c.number); return nil }
func (c *client) Freeze() {
	if c.frozen.CompareAndSwap(false, true) {
		c.note("freeze %d", c.number)
	}
}
func (c *client) Thaw() {
	if c.frozen.CompareAndSwap(true, false) {
		c.note("thaw %d", c.number)
	}
}
func (c *client) Lose(op drivers.Op) { c.note("lose %v of %d", op, c.number) }

// paper returns three simulated servers, of which the second leads, and four clients.
func paper() (*diary, faults.Subjects) {
	d := &diary{start: time.Now()}
	on := faults.Subjects{Holder: func() (int, bool) { return 2, true }}
	for i := range 3 {
		on.Servers = append(on.Servers, &server{diary: d, name: fmt.Sprint(i + 1), leads: func() bool { return i == 1 }})
	}
	for i := range 4 {
		on.Clients = append(on.Clients, &client{diary: d, number: i + 1})
	}
	return d, on
}

func schedule(t *testing.T, lines ...string) (s faults.Schedule) {
	t.Helper()
	for _, line := range lines {
		f, err := faults.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, f)
	}
	return s
}

// minute returns a context that ends after all the schedules of these tests.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Each step is performed at its time, on the targets of the first step, and reported. Words such as
// leader are resolved when the fault begins.
func TestDo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		var told []string
		err := schedule(t, "at=10s kill leader, restart after=5s", "at=1s stop member=3 for=500ms", "at=2s restart member=1",
			"at=3s expire holder", "at=4s freeze client=1 for=1s", "at=6s lose client=2 reply=set",
			"at=7s delay leader by=50ms, throttle to=64k after=1s, restore after=1s").Do(minute(t), on,
			func(done faults.Done) { told = append(told, fmt.Sprintf("%v %s", time.Since(d.start), done.What)) })
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"1s stop 3", "1.5s continue 3", "2s kill 1", "2s restart 1", "3s expire 3", "4s freeze 1", "5s thaw 1",
			fmt.Sprintf("6s lose %v of 2", drivers.OpSet), "7s delay 2 by 50ms", "8s throttle 2 to 65536", "9s restore 2", "10s kill 2", "15s restart 2"}, d.lines); diff != "" {
			t.Errorf("what was done (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"1s stop member 3", "1.5s continue member 3", "2s restart member 1", "3s expire client 3, the holder",
			"4s freeze client 1", "5s thaw client 1", "6s lose client 2, reply=set",
			"7s delay member 2, the leader", "8s throttle member 2, the leader", "9s restore member 2, the leader", "10s kill member 2, the leader", "15s restart member 2, the leader"}, told); diff != "" {
			t.Errorf("what was told (-want +got):\n%s", diff)
		}
	})
}

// An isolated member may still report that it leads: it is neither chosen as the leader nor as a
// follower.
func TestIsolatedIsNoLeader(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		on.Servers[2].(*server).leads = func() bool { return time.Since(d.start) > 2*time.Second }
		err := schedule(t, "at=1s isolate leader for=5s", "at=3s stop leader for=1s", "at=5s stop follower for=500ms").
			Do(minute(t), on, func(faults.Done) {})
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"1s isolate 2", "3s stop 3", "4s continue 3", "5s stop 1", "5.5s continue 1", "6s restore 2"}, d.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// At the end of the run, everything broken is restored, including faults without an undo, and
// nothing more is done.
func TestDoRestoresAtTheEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := schedule(t, "at=1s kill leader for=5s", "at=1s stop member=1 for=5s", "at=1s isolate member=1 for=5s",
			"at=1s freeze client=4 for=5s", "at=1500ms kill member=3", "at=1s delay member=3 by=50ms", "at=3s kill member=1").
			Do(ctx, on, func(faults.Done) {})
		if err != nil {
			t.Error(err)
		}
		slices.Sort(d.lines)
		if diff := cmp.Diff([]string{"1.5s kill 3", "1s delay 3 by 50ms", "1s freeze 4", "1s isolate 1", "1s kill 2", "1s stop 1", "2s continue 1", "2s restart 2", "2s restart 3",
			"2s restore 1", "2s restore 3", "2s thaw 4"}, d.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A full disk has room again after its server is restarted. The restart kills the server first,
// unless it was killed in the meantime.
func TestFullDisks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		err := schedule(t, "at=1s fill-disk leader for=2s", "at=4s fill-disk member=1, kill after=1s, restart after=1s",
			"at=7s fill-disk member=3, stop after=1s").Do(ctx, on, func(faults.Done) {})
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"1s fill-disk 2", "3s kill 2", "3s restart 2", "4s fill-disk 1", "5s kill 1", "6s restart 1",
			"7s fill-disk 3", "8s stop 3", "9s kill 3", "9s restart 3"}, d.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A disk that hangs is thawed by its fault or at the end, once, and its server is no target meanwhile. What was isolated
// in one direction is restored.
func TestHungDisks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		var told []string
		err := schedule(t, "at=1s hang-disk leader for=2s", "at=4s hang-disk member=1", "at=5s hang-disk member=3",
			"at=6s isolate leader direction=out").Do(ctx, on, func(done faults.Done) { told = append(told, done.What) })
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"1s hang-disk 2", "3s thaw 2", "4s hang-disk 1", "5s hang-disk 3", "6s isolate 2 out",
			"9s thaw 1", "9s restore 2", "9s thaw 3"}, d.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if last := told[len(told)-1]; last != "isolate member 2, the leader, direction=out" {
			t.Errorf("it told %q", last)
		}
	})
}

// Two faults at the same time do not choose the same follower.
func TestFollowersAreNotFelledTwice(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, on := paper()
		if err := schedule(t, "at=1s kill follower for=5s", "at=1s kill follower for=5s").Do(minute(t), on, func(faults.Done) {}); err != nil {
			t.Error(err)
		}
		slices.Sort(d.lines)
		if diff := cmp.Diff([]string{"1s kill 1", "1s kill 3", "6s restart 1", "6s restart 3"}, d.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Successive faults choose different followers.
func TestFollowersTakeTurns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for seed := range uint64(10) {
			d, on := paper()
			on.Seed = seed
			if err := schedule(t, "at=1s stop follower for=1s", "at=3s stop follower for=1s").Do(minute(t), on, func(faults.Done) {}); err != nil {
				t.Error(err)
			}
			if first, second := d.lines[0][len("1s stop "):], d.lines[2][len("3s stop "):]; first == second {
				t.Errorf("seed %d: follower %s twice: %q", seed, first, d.lines)
			}
		}
	})
}

// TestFaultsOfServersWaitForTheFirstClient has a client of another program come late, or not at all. When the servers are
// killed, it goes: they are restarted all the same, also by a fault of its own.
func TestFaultsOfServersWaitForTheFirstClient(t *testing.T) {
	for comes, want := range map[time.Duration]string{
		10 * time.Second: "",
		30 * time.Second: `fault "at=1s kill members=all": there was no connected client for 15s`,
	} {
		bubble.Test(t, func(t *testing.T) {
			d, on := paper()
			on.Program, on.Clients = visitor{d, on.Clients[0], comes}, nil
			err := schedule(t, "at=1s kill members=all", "at=12s restart members=all").Do(minute(t), on, func(faults.Done) {})
			switch {
			case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || len(d.lines) > 0):
				t.Errorf("%v, %q; want %s", err, d.lines, want)
			case want == "" && (err != nil || len(d.lines) != 6 || !strings.HasPrefix(d.lines[0], "10s kill") || !strings.HasPrefix(d.lines[5], "12s restart")):
				t.Errorf("%v, %q; want all killed at 10 s and restarted at 12 s", err, d.lines)
			}
		})
	}
}

// A visitor is a client of another program that is connected for a second.
type visitor struct {
	*diary
	client faults.Client
	comes  time.Duration
}

func (v visitor) Clients() []faults.Client {
	if since := time.Since(v.start); since < v.comes || since > v.comes+time.Second {
		return nil
	}
	return []faults.Client{v.client}
}

func (v visitor) Numbered(int) (faults.Client, bool) { return v.client, false }

func (v visitor) Named(process bool, name string) []faults.Client {
	if since := time.Since(v.start); process || name != "/members/a" || since < v.comes+500*time.Millisecond {
		return nil
	}
	return v.Clients()
}

// TestFaultsOfServersWaitForANode has a client of another program that makes its node half a second after it has come, and is gone
// when the servers are killed: they are restarted all the same.
func TestFaultsOfServersWaitForANode(t *testing.T) {
	for node, want := range map[string]string{
		"/members/a": "",
		"/members/b": `fault "at=1s kill members=all once=/members/b": there was no client with the node /members/b for 15s`,
	} {
		bubble.Test(t, func(t *testing.T) {
			d, on := paper()
			on.Program, on.Clients = visitor{d, on.Clients[0], 10 * time.Second}, nil
			err := schedule(t, "at=1s kill members=all once="+node, "at=12s restart members=all once="+node).Do(minute(t), on, func(faults.Done) {})
			switch {
			case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || len(d.lines) > 0):
				t.Errorf("%v, %q; want %s", err, d.lines, want)
			case want == "" && (err != nil || len(d.lines) != 6 || !strings.HasPrefix(d.lines[0], "10.5s kill") || !strings.HasPrefix(d.lines[5], "12s restart")):
				t.Errorf("%v, %q; want all killed at 10.5 s and restarted at 12 s", err, d.lines)
			}
		})
	}
}

// A fault waits for an election in progress up to a limit and then returns an error; a failed fault
// also returns an error. No fault is skipped silently.
func TestFaultsThatCannotBeDone(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		after time.Duration // when a leader and a holder appear; 0 means never
		fails bool
		want  string
	}{
		"election":  {fault: "at=1s kill leader", after: 5 * time.Second},
		"no leader": {fault: "at=1s kill leader", want: `fault "at=1s kill leader": there was no leader for 15s`},
		"no role":   {fault: "at=1s stop follower", want: `fault "at=1s stop follower": there was no follower for 15s`},
		"no holder": {fault: "at=1s expire holder", want: `fault "at=1s expire holder": there was no holder for 15s`},
		"fails":     {fault: "at=1s kill member=1", fails: true, want: `fault "at=1s kill member=1": kill member 1: no permission`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				d, on := paper()
				there := func() bool { return c.after > 0 && time.Since(d.start) >= c.after }
				on.Holder = func() (int, bool) { return 0, there() }
				for _, s := range on.Servers {
					s.(*server).leads = func() bool { return s.Name() == "2" && there() }
					if c.fails {
						s.(*server).broken = errors.New("no permission")
					}
				}
				err := schedule(t, c.fault).Do(minute(t), on, func(faults.Done) {})
				switch {
				case c.want == "" && (err != nil || !strings.HasPrefix(d.lines[0], c.after.String()+" kill 2")):
					t.Errorf("%v, %q", err, d.lines)
				case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
			})
		})
	}
}
