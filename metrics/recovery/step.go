package recovery

import (
	"slices"
	"time"
)

// Attempts are in step if they come in rounds: at least nine of ten attempts begin within a slot in which two or more
// clients make one, there are minRounds such slots or more, and from one slot to the next it takes at least sparse times
// as long as a slot, on average. The first slot does not count: it follows the fault, which hits all clients at once.
//
// Clients that vary their pauses independently are rarely called in step. Let each pause vary over a range that is
// at least half as wide as the longest pause's mean P, evenly: then a client's next attempt falls within one slot
// before or after any given moment with a probability of at most 2·slot/(P/2), whatever came before. The slots are as
// far apart as the pauses are long, which are at most 5/4 P: slot <= 5/4 P/sparse, so that probability is at most
// 5/sparse < 0.16. Two clients have to meet so in each of minRounds rounds, which has a probability below 0.16^4 <
// 0.7/1000; three have to meet all at once, as one alone is more than one attempt of ten, and more clients in pairs make
// more slots, which are then too dense. Slots of other widths, each at most half as wide, add less than a tenth of that:
// fewer than one in 1,000 is called in step. The wider the pauses vary, the fewer are.
const (
	minRounds = 4
	sparse    = 32
)

// slots are the widths that are tried, the widest first.
func slots() []time.Duration {
	const ms = time.Millisecond
	return []time.Duration{100 * ms, 50 * ms, 20 * ms, 10 * ms, 5 * ms, 2 * ms}
}

// A round has the attempts within one slot.
type round []attempt

// inStep finds out whether the clients that a fault has hit connect in step, or else repeat their requests in step.
func (a *Analysis) inStep(o *outcome) *Step {
	hit := map[*origin]int{}
	clients := a.clientsOf(o.hit())
	for _, r := range o.hit() {
		hit[clients[r.h.origin]]++
	}
	sessions := func(c *origin) int { return hit[c] }
	s, of := stepOf(a.attemptsOf(clients, o.attempts[reconnects]), sessions), "connections"
	if s == nil {
		s, of = stepOf(a.attemptsOf(clients, o.attempts[retries]), sessions), "requests"
	}
	if s != nil {
		s.Of = of
	}
	return s
}

// stepOf tests attempts, which are in the order of their times. Sessions says how many sessions a client has.
func stepOf(attempts []attempt, sessions func(*origin) int) *Step {
	for _, slot := range slots() {
		rounds := roundsOf(attempts, slot)
		if len(rounds) <= minRounds {
			continue
		}
		span := rounds[len(rounds)-1][0].at.Sub(rounds[0][0].at)
		if span >= time.Duration(len(rounds)-1)*sparse*slot {
			if s := together(rounds, sessions); s != nil {
				return s
			}
		}
	}
	return nil
}

// roundsOf divides attempts into rounds.
func roundsOf(attempts []attempt, slot time.Duration) (all []round) {
	for len(attempts) > 0 {
		n := 1
		for n < len(attempts) && attempts[n].at.Sub(attempts[0].at) <= slot {
			n++
		}
		all = append(all, attempts[:n])
		attempts = attempts[n:]
	}
	return all
}

// together describes rounds in which clients make their attempts together, nil if they do not.
func together(rounds []round, sessions func(*origin) int) *Step {
	var pauses []time.Duration
	var clients []int
	alone, all := 0, 0
	for i, r := range rounds[1:] {
		pauses = append(pauses, r[0].at.Sub(rounds[i][0].at))
		all += len(r)
		if n := clientsOf(r, sessions); n >= 2 {
			clients = append(clients, n)
		} else {
			alone += len(r)
		}
	}
	if len(clients) < minRounds || 10*alone > all {
		return nil
	}
	slices.Sort(pauses)
	slices.Sort(clients)
	return &Step{
		Clients: int64(clients[len(clients)/2]), Period: pauses[len(pauses)/2], Longest: pauses[len(pauses)-1],
		Rounds: int64(len(clients)),
	}
}

// clientsOf returns how many clients have made attempts at the same time. Whose connection one is may not be known: a
// process has as many as it connects to one server, since a client tries several one after the other, but at most as
// many as it had sessions.
func clientsOf(attempts round, sessions func(*origin) int) (n int) {
	if len(attempts) == 1 {
		return 1
	}
	holders := map[*holder]bool{}
	servers := map[*origin]map[string]int{}
	most := map[*origin]int{}
	for _, t := range attempts {
		if t.h != nil {
			holders[t.h] = true
			continue
		}
		if servers[t.origin] == nil {
			servers[t.origin] = map[string]int{}
		}
		servers[t.origin][t.server]++
		most[t.origin] = max(most[t.origin], servers[t.origin][t.server])
	}
	for o, c := range most {
		n += min(c, sessions(o))
	}
	return n + len(holders)
}
