package server_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

var (
	operations = flag.Int("operations", 5000, "how many random operations to compare with an Apache ZooKeeper")
	seed       = flag.Uint64("seed", 1, "of the random operations")
)

// TestSameAsZooKeeper sends the same requests to the native server and to an Apache ZooKeeper. The
// replies and events must be equal, byte for byte, except for what a side's descriptions leave out.
// To compare more operations than the default:
//
//	go test -run SameAs -timeout 1h ./drivers/server -args -operations=100000 -seed=7
func TestSameAsZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	all := &tally{seen: map[int32]map[wire.Err]int{}}
	for left, seed := *operations, *seed; left > 0; left, seed = left-perServer, seed+1 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compareOn(t, seed, min(left, perServer), all) })
	}
	if all.avoid == nil {
		t.Skip("no seed was compared: the reason is the subtest's")
	}
	if *operations >= 5000 && !t.Failed() {
		all.wantAll(t)
	}
}

// perServer is the number of operations after which both servers are restarted: after a minute they
// delete containers, each at its own time.
const perServer = 10_000

func compareOn(t *testing.T, seed uint64, operations int, all *tally) {
	apache := backendtest.ZooKeeper(t, "extendedTypesEnabled=true\nforceSync=no\n"+
		"DigestAuthenticationProvider.superDigest="+superDigest()+"\n")
	p := newPair(t, backendtest.Native(t, server.Options{SuperDigest: superDigest()}), apache, seed)
	for p.done < operations {
		p.step()
	}
	p.audit()
	all.add(p)
	t.Logf("%d operations and %d events compared", p.done, p.sides[0].events)
}

// A pair is two servers that receive the same requests.
type pair struct {
	t      testing.TB
	sides  [2]*side
	script script
	done   int
	recent []string // the last steps
}

const differSessions = 4

func newPair(t testing.TB, one, two string, seed uint64) *pair {
	p := &pair{t: t, sides: [2]*side{newSide(t, one, differSessions), newSide(t, two, differSessions)}}
	p.script = script{Rand: rand.New(rand.NewPCG(seed, 0)), avoid: differs(releaseOf(t, two))}
	p.greet(0)
	return p
}

// greet makes session 0 the superuser.
func (p *pair) greet(session int) {
	if session == 0 {
		p.ask(0, request{wire.OpAuth, wire.AuthRequest{Scheme: "digest", Auth: []byte(superUser)}})
	}
}

// step performs one random step.
func (p *pair) step() {
	session := p.script.IntN(differSessions)
	switch n := p.script.IntN(600); {
	case n < 3:
		p.move(session)
	case n < 6:
		p.close(session)
	case n < 8:
		p.offend(session)
	case n < 9:
		p.wipe()
	default:
		p.ask(session, p.script.requests(session)...)
	}
}

// ask sends requests of one session and compares the packets that all sessions receive.
func (p *pair) ask(session int, requests ...request) {
	p.t.Helper()
	p.compare(fmt.Sprintf("session %d: %+v", session, requests), func(s *side) []string {
		return append(s.converse(session, s.dated(requests)), s.flush()...)
	})
	p.done += len(requests)
}

// compare performs the same step on both sides and fails if their packets differ.
func (p *pair) compare(what string, do func(s *side) []string) {
	p.t.Helper()
	p.recent = append(p.recent, what)
	p.recent = p.recent[max(0, len(p.recent)-8):]
	one, two := do(p.sides[0]), do(p.sides[1])
	if p.sides[0].told != p.sides[1].told { // only one side reports the zxids of events
		one, two = untold(one), untold(two)
	}
	if diff := cmp.Diff(two, one); diff != "" {
		p.t.Fatalf("after %d operations (-ZooKeeper +native):\n%s\nthe last steps:\n%s",
			p.done, diff, strings.Join(p.recent, "\n"))
	}
	p.script.made = append(p.script.made, paths(one)...)
}

// untold returns the lines without the zxids of events.
func untold(lines []string) []string {
	lines = slices.Clone(lines)
	for i := range lines {
		if strings.Contains(lines[i], "event ") {
			lines[i], _, _ = strings.Cut(lines[i], ", of zxid")
		}
	}
	return lines
}
