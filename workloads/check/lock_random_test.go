package check

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A simLock is a lock of several clients in a random order of events, one each millisecond. It is correct
// except for one planted fault.
type simLock struct {
	r       *rand.Rand
	clients [4]simClient
	shared  bool // some clients share the lock
	tokens  bool // grants have tokens
	faults  bool // sessions are disturbed, and holders deposed
	token   int64
	now     time.Duration
	steps   []TimedStep
	good    []simClient // the holds that ended without a disturbance
	plant   func(*simLock) bool
	planted bool
}

type simClient struct {
	state     simState
	shared    bool
	token     int64
	owns      bool // by the service's view it has the lock
	disturbed bool
	deposed   bool
	protected bool // nothing may excuse this hold
}

type simState int

const (
	idle simState = iota
	waits
	granted // by the service; the client does not know it yet
	holds
	releases
)

func (l *simLock) record(client int, s Step) {
	s.Client = client
	l.steps = append(l.steps, exactly(l.now, s))
}

// free reports whether the service may grant the lock to the client.
func (l *simLock) free(c *simClient) bool {
	for i := range l.clients {
		if o := &l.clients[i]; o.owns && !(o.shared && c.shared) {
			return false
		}
	}
	return true
}

// run lets the clients take steps at random, until each has released what it holds.
func (l *simLock) run(events int) {
	for i := range events {
		l.now += ms
		if i > events/3 && l.plant != nil && !l.planted && l.plant(l) {
			l.planted = true
			continue
		}
		l.event(l.r.IntN(len(l.clients)), false)
	}
	for i := range l.clients {
		for l.clients[i].state != idle {
			l.now += ms
			l.event(i, true)
		}
	}
}

// event lets a client do what it does next. The last events only end what has begun.
func (l *simLock) event(i int, last bool) {
	c := &l.clients[i]
	switch c.state {
	case idle:
		*c = simClient{state: waits, shared: l.shared && l.r.IntN(2) == 0}
		l.record(i, Step{Kind: Asked, Shared: c.shared})
	case waits:
		switch {
		case last || l.faults && l.r.IntN(10) == 0:
			c.state = idle
			l.record(i, Step{Kind: GaveUp})
		case l.free(c):
			l.token++
			c.state, c.owns, c.token = granted, true, l.token
		}
	case granted, holds:
		if l.faults && !c.protected && !last && l.r.IntN(4) == 0 {
			l.disturb(c)
			return
		}
		if c.state == granted {
			l.grant(i)
			return
		}
		c.state = releases
		l.record(i, Step{Kind: Releasing})
		if l.r.IntN(2) == 0 {
			c.owns = false // the service executes the release before the client gets the answer
		}
	case releases:
		c.state, c.owns = idle, false
		l.record(i, Step{Kind: Released, Disturbed: c.disturbed, Deposed: c.deposed})
		if !c.disturbed && !c.deposed {
			l.good = append(l.good, *c)
		}
	}
}

// grant lets the client know that it holds.
func (l *simLock) grant(i int) {
	c := &l.clients[i]
	c.state = holds
	token := c.token
	if !l.tokens {
		token = drivers.NoSeq
	}
	l.record(i, Step{Kind: Granted, Token: token})
}

// disturb disconnects a session, ends it, or lets another client depose the holder.
func (l *simLock) disturb(c *simClient) {
	switch l.r.IntN(3) {
	case 0:
		c.disturbed = true
	case 1:
		c.disturbed, c.owns = true, false
	case 2:
		if c.owns && c.state == holds && !c.disturbed {
			c.deposed, c.owns = true, false
			l.record(l.r.IntN(len(l.clients)), Step{Kind: Deposing, Value: 1})
		}
	}
}

// undisturbed returns a client in the state that nothing excuses, and false if there is none.
func (l *simLock) undisturbed(state simState) (*simClient, int, bool) {
	first := l.r.IntN(len(l.clients))
	for n := range l.clients {
		i := (first + n) % len(l.clients)
		if c := &l.clients[i]; c.state == state && !c.disturbed && !c.deposed {
			return c, i, true
		}
	}
	return nil, 0, false
}

// The faults that can be planted, each in a hold that nothing excuses. They report false if this is not the
// moment.
var plants = map[string]func(*simLock) bool{
	"a second holder": func(l *simLock) bool {
		h, _, held := l.undisturbed(holds)
		c, i, waiting := l.undisturbed(waits)
		if !held || !waiting || h.shared && c.shared {
			return false
		}
		l.token++
		h.protected, c.protected, c.token = true, true, l.token
		l.grant(i)
		return true
	},
	"a token granted again": func(l *simLock) bool {
		return l.grantToken(func(token int64) int64 { return token })
	},
	"a token that goes back": func(l *simLock) bool {
		return l.grantToken(func(token int64) int64 { return token - 1 - l.r.Int64N(3) })
	},
	"a hold that is lost": func(l *simLock) bool {
		h, i, ok := l.undisturbed(releases)
		if !ok {
			return false
		}
		h.state, h.owns = idle, false
		l.record(i, Step{Kind: Released, Deposed: true})
		return true
	},
	"a lock kept by a client that has released it": func(l *simLock) bool {
		c, i, ok := l.undisturbed(holds)
		o, j, waiting := l.undisturbed(waits)
		if !ok || !waiting || c.shared && o.shared {
			return false
		}
		l.token++
		o.token, c.protected, o.protected = l.token, true, true
		l.grant(j)
		l.now += ms
		l.record(j, Step{Kind: Releasing})
		l.now += ms
		l.record(j, Step{Kind: Released})
		o.state = idle
		l.now += ms
		l.event(i, true)
		return true
	},
}

// grantToken grants the lock with a token that is made of that of an earlier hold.
func (l *simLock) grantToken(of func(token int64) int64) bool {
	c, i, ok := l.undisturbed(waits)
	if !ok || !l.tokens || len(l.good) == 0 || !l.free(c) {
		return false
	}
	g := l.good[l.r.IntN(len(l.good))]
	if c.shared && g.shared {
		return false
	}
	c.token, c.owns, c.protected = of(g.token), true, true
	l.grant(i)
	return true
}

func newSimLock(r *rand.Rand) *simLock {
	return &simLock{r: r, token: 10, shared: r.IntN(3) == 0, tokens: r.IntN(3) > 0, faults: r.IntN(2) == 0}
}

// violations counts the contradictions of holds that nothing excuses, by comparing all holds with each other,
// and the holders that were deposed without the right.
func violations(steps []TimedStep) (n int64) {
	type span struct {
		shared, excused bool
		token           int64
		from, to        time.Duration
	}
	var all []*span
	current := map[int]*span{}
	deposed := int64(0)
	for _, s := range steps {
		switch h := current[s.Client]; s.Kind {
		case Asked:
			current[s.Client] = &span{shared: s.Shared}
		case Granted:
			h.token, h.from = s.Token, s.Earliest
			all = append(all, h)
		case Releasing:
			h.to = s.Earliest
		case Released:
			h.excused = s.Disturbed || s.Deposed
			if s.Deposed {
				deposed++
			}
		case Deposing:
			deposed -= s.Value
		}
	}
	for i, h := range all {
		wrong := false
		for _, o := range all[:i] {
			if h.excused || o.excused || h.shared && o.shared {
				continue
			}
			if o.to > h.from {
				n++
			}
			wrong = wrong || h.token != drivers.NoSeq && h.token <= o.token
		}
		if wrong {
			n++
		}
	}
	return n + max(deposed, 0)
}

// TestPlantedFaultsOfLocks judges random schedules with one fault each, as one process and as several see
// them. Both find all violations that a comparison of all holds finds.
func TestPlantedFaultsOfLocks(t *testing.T) {
	seeds := 5000
	if testing.Short() {
		seeds = 1000
	}
	for name, plant := range plants {
		planted := 0
		for seed := range uint64(seeds) {
			l := newSimLock(rand.New(rand.NewPCG(seed, 1)))
			l.plant = plant
			l.run(60)
			want := violations(l.steps)
			if l.planted && want == 0 {
				t.Fatalf("%s, seed %d: the planted fault is none", name, seed)
			}
			if l.planted {
				planted++
			}
			one, _ := judgeOrdered(l.steps)
			several, _ := judgeLock(blurred(l.r, l.steps, 200*time.Microsecond))
			if one.Violations != want || several.Violations != want {
				t.Fatalf("%s, seed %d: %d violations, and %d with several clocks, want %d: %q", name, seed, one.Violations, several.Violations, want, one.Details)
			}
			if !slices.Equal(one.Details, several.Details) || one.BeliefOverlaps != several.BeliefOverlaps || one.TokensRefused != several.TokensRefused {
				t.Fatalf("%s, seed %d: one process %+v, several %+v", name, seed, one, several)
			}
		}
		if planted < seeds/5 {
			t.Errorf("%s: planted in %d schedules only", name, planted)
		}
	}
}

// TestCorrectLocksAreNeverAccused judges random schedules of correct locks, as one process sees them and as
// several do whose clocks are wrong by up to the time between five events.
func TestCorrectLocksAreNeverAccused(t *testing.T) {
	n := uint64(1_000_000)
	if testing.Short() {
		n = 10_000
	}
	inParallel(n, func(seed uint64) bool {
		l := newSimLock(rand.New(rand.NewPCG(seed, 2)))
		l.run(40)
		one, handoffs := judgeOrdered(l.steps)
		several, _ := judgeLock(blurred(l.r, l.steps, time.Duration(l.r.Int64N(int64(5*ms)))))
		if one.Violations+several.Violations > 0 || one.Checked != several.Checked || one.Tokens != (l.tokens && one.Checked > 0) {
			t.Errorf("seed %d: one process %+v, several %+v, want no violation", seed, one, several)
		}
		if slices.ContainsFunc(handoffs, func(h time.Duration) bool { return h < 0 }) {
			t.Errorf("seed %d: hand-offs %v", seed, handoffs)
		}
		return !t.Failed()
	})
}

// inParallel calls f with each number below n, on all processors, until it returns false.
func inParallel(n uint64, f func(seed uint64) bool) {
	workers := uint64(runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for seed := worker; seed < n && f(seed); seed += workers {
			}
		})
	}
	group.Wait()
}
