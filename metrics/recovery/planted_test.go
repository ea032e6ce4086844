package recovery

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/golden"
)

// A planted program has a known behaviour. Its six sessions each register a node and watch /app/config. Then the
// service ends the sessions, and accepts no connection for eight seconds.
type planted struct {
	name                        string
	registers, watches, jitters bool
	twice, givesUp, dead        bool
	loses                       bool // a reply is lost instead, and the program repeats the write

	verdict Verdict
}

func plantedPrograms() (all []planted) {
	for _, registers := range []bool{true, false} {
		for _, watches := range []bool{true, false} {
			for _, jitters := range []bool{true, false} {
				p := planted{registers: registers, watches: watches, jitters: jitters, verdict: RecoversPartly}
				switch {
				case registers && watches:
					p.verdict = Recovers
				case !registers && !watches:
					p.verdict = NotRecovered
				}
				p.name = fmt.Sprintf("registers=%v,watches=%v,jitters=%v", registers, watches, jitters)
				all = append(all, p)
			}
		}
	}
	return append(all,
		planted{name: "twice", registers: true, watches: true, jitters: true, twice: true, verdict: RecoversPartly},
		planted{name: "gives up", jitters: true, givesUp: true, verdict: NotRecovered},
		planted{name: "dead session", jitters: true, dead: true, verdict: NotRecovered},
		planted{name: "repeats", loses: true, verdict: RecoversPartly},
	)
}

const (
	clients  = 6
	struck   = 20 * time.Second // when the fault begins
	outage   = 8 * time.Second
	observed = 60 * time.Second
)

// plant plans what the program does.
func (p planted) plant(s *script, random *rand.Rand) {
	var all []*member
	s.at(0, func() {
		for i, m := range s.members(1, clients) {
			all = append(all, m)
			s.at(time.Duration(i)*ms, func() { m.register("/svc/member-") })
			s.at(time.Duration(i)*ms+5*time.Second, func() { m.watch("/app/config") })
		}
	})
	if p.loses {
		s.at(struck, func() {
			s.fault(LostReply, 0, all[0])
		})
		s.at(struck+1, func() {
			all[0].do(drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/job-"), Mode: drivers.Sequential})
			all[0].drops(drivers.OpCreate)
			all[0].cut()
		})
		s.at(struck+40*ms, func() {
			all[0].resume()
			all[0].rearm()
		})
		s.at(struck+50*ms, func() {
			all[0].do(drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/job-"), Mode: drivers.Sequential})
		})
		return
	}
	s.at(struck, func() {
		s.fault(Expired, outage, all...)
		for _, m := range all {
			m.cut()
			p.retry(s, m, s.since()+10*ms+time.Duration(random.IntN(3))*ms, random)
		}
	})
}

// retry plans an attempt to come back.
func (p planted) retry(s *script, m *member, at time.Duration, random *rand.Rand) {
	pause := time.Second
	if p.jitters {
		pause = pause/2 + time.Duration(random.Int64N(int64(pause)))
	}
	again := func() { p.retry(s, m, at+pause+time.Duration(random.IntN(4))*ms, random) }
	s.at(at, func() {
		switch {
		case p.givesUp && at > struck+outage/2:
		case at < struck+outage:
			m.fails()
			again()
		case p.dead:
			m.refused()
			again()
		default:
			m.refused()
			m.open(0)
			s.at(at+20*ms, func() { p.back(m) })
		}
	})
}

// back does what the program does with a new session.
func (p planted) back(m *member) {
	if p.registers {
		m.register("/svc/member-")
	}
	if p.twice {
		m.register("/svc/member-")
	}
	if p.watches {
		m.watch("/app/config")
	}
}

// others plans the traffic of another program: it comes and goes, locks, watches and writes.
func others(s *script, random *rand.Rand) {
	for pid := range 1 + random.IntN(3) {
		var m *member
		at := time.Duration(random.IntN(1_000)) * ms
		s.at(at, func() { m = s.members(pid+2, 1)[0] })
		for at < observed-time.Second {
			at += time.Duration(1+random.IntN(2_000)) * ms
			path := fmt.Sprintf("/other/%d", random.IntN(3))
			switch random.IntN(8) {
			case 0:
				s.at(at, func() {
					if m.lock == "" {
						m.register("/other/lock-")
						m.lock = fmt.Sprintf("/other/lock-%010d", m.pos)
					} else {
						m.remove(m.lock)
						m.lock = ""
					}
				})
			case 1:
				s.at(at, func() { m.watch(path) })
			case 2:
				s.at(at, func() { m.list(path) })
			case 3:
				s.at(at, func() { m.set(path) })
			case 4:
				s.at(at, func() {
					m.close()
					m.lock = ""
					m.open(0)
				})
			case 5:
				s.at(at, func() { m.cut(); m.resume(); m.rearm() })
			case 6:
				s.at(at, func() { m.own(path + "/own"); m.remove(path + "/own") })
			case 7:
				s.at(at, func() { m.told(drivers.DataChanged, path) })
			}
		}
	}
}

// differences compares the outcome with what the program was made to do.
func (p planted) differences(o Outcome) (bad []string) {
	is := func(what string, got, want any) {
		if got != want {
			bad = append(bad, fmt.Sprintf("%s is %v, want %v", what, got, want))
		}
	}
	times := func(b bool, n int64) int64 {
		if b {
			return n
		}
		return 0
	}
	is("verdict", o.Verdict, p.verdict)
	is("in step", o.InStep != nil, !p.jitters && !p.loses)
	if s := o.InStep; s != nil {
		is("clients in step", s.Clients, int64(clients))
		is("period", s.Period.Round(20*ms), time.Second)
	}
	is("too many", o.Nodes.Duplicated, times(p.twice, clients))
	is("gave up", o.GaveUp, times(p.givesUp, clients))
	is("refused", o.Refused > 0, !p.givesUp && !p.loses)
	is("done twice", o.Repeated, times(p.loses, 1))
	if p.loses {
		is("resumed", o.Resumed, int64(1))
		is("nodes", o.Nodes.Back, int64(1))
		is("watches", o.Watches.Back, int64(1))
	} else {
		is("sessions", o.Sessions, int64(clients))
		is("replaced", o.Replaced, times(!p.givesUp && !p.dead, clients))
		is("nodes had", o.Nodes.Had, int64(clients))
		is("nodes", o.Nodes.Back, times(p.registers, clients))
		is("watches had", o.Watches.Had, int64(clients))
		is("watches", o.Watches.Back, times(p.watches, clients))
	}
	return bad
}

// TestPlantedProgramsAreToldApart compares the outcome of each planted program with what each other one was made to do.
func TestPlantedProgramsAreToldApart(t *testing.T) {
	all := plantedPrograms()
	for _, p := range all {
		s := newScript("zookeeper")
		p.plant(s, rand.New(rand.NewPCG(8, 8)))
		s.play(observed)
		o := s.outcome(t)
		for _, q := range all {
			if same := len(q.differences(o)) == 0; same != (p.name == q.name) {
				t.Errorf("the outcome of %q is that of %q: %v", p.name, q.name, same)
			}
		}
	}
}

// TestReportOfPlantedPrograms compares the sentences about all planted programs, and the report on one, with the reviewed
// ones.
func TestReportOfPlantedPrograms(t *testing.T) {
	var sentences strings.Builder
	for _, p := range plantedPrograms() {
		s := newScript("zookeeper")
		p.plant(s, rand.New(rand.NewPCG(6, 6)))
		s.play(observed)
		r := s.a.Report()
		fmt.Fprintf(&sentences, "# %s\n%s\n\n", p.name, r.Sentence(format))
		if p.registers && !p.watches && !p.jitters {
			r.Outcomes[0].Rows = r.Outcomes[0].Rows[:1]
			text, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/report.json", append(text, '\n'))
		}
	}
	golden.Compare(t, "testdata/planted.txt", []byte(sentences.String()))
}

// TestPlantedProgramsAreJudgedRight plays each planted program alone and beside random traffic of others.
func TestPlantedProgramsAreJudgedRight(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	for _, p := range plantedPrograms() {
		t.Run(p.name, func(t *testing.T) {
			for seed := range seeds {
				random := rand.New(rand.NewPCG(seed, 41))
				s := newScript("zookeeper")
				p.plant(s, random)
				if seed > 0 {
					others(s, random)
				}
				s.play(observed)
				o := s.outcome(t)
				if bad := p.differences(o); len(bad) > 0 {
					t.Fatalf("seed %d: %q\n%+v", seed, bad, o)
				}
			}
		})
	}
}
