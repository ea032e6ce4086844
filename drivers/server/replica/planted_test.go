package replica

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A plantedBug is a change of one file that makes a member wrong.
type plantedBug struct {
	name     string
	file     string // of this package, or the path to one of another package
	old, new string
	test     string // of the file's package, which finds it; "" means TestSimulation
	in       string // the folder of the test; "" means that of the file
	seed     int    // of the first schedule; 0 means 1. It saves those that do not find it.
}

func plantedBugs() []plantedBug {
	return []plantedBug{
		{name: "acknowledge before a majority has it", file: "proposals.go",
			old: "Txn: x}, done)\n}\n\nfunc (l *Line) propose",
			new: "Txn: x}, func(*Applied) {})\n\tdone(&Applied{Kind: Request, Result: tree.Result{Zxid: l.member.state.tree.Zxid()}})\n}\n\nfunc (l *Line) propose"},
		{name: "sync on a deposed leader", file: "leases.go",
			old: "			m.node.ReadIndex(b)", new: "			q.index = m.node.BasicStatus().GetCommit()"},
		{name: "sync does not wait", file: "leases.go",
			old: " && r.waiting[0].index <= m.state.index {", new: " {"},
		{name: "serve after the majority is lost", file: "service.go", seed: 150,
			old: "	m.handler.Suspend()\n", new: ""},
		{name: "serve while a leader is heard", file: "leases.go",
			old: "			q.sent = true\n",
			new: "			q.sent = true\n\t\t\tif len(q.done) == 0 {\n\t\t\t\tq.index = max(m.state.index, 1)\n\t\t\t}\n"},
		{name: "claim to serve while a leader is heard", file: "service.go",
			old: "m.clock-s.confirmed >= MaxAge {", new: "m.soft.Lead == raft.None {"},
		{name: "serve a session that may have ended", file: "proposals.go", seed: 670,
			old: "return l.member.clock < l.until", new: "return true"},
		{name: "count a confirmation from its answer", file: "leases.go",
			old: "m.service.confirm(m, q.asked)", new: "m.service.confirm(m, m.clock)"},
		{name: "answer before the clock is looked at", file: "service.go",
			old: "max(m.clock, now)", new: "max(m.clock, m.ticked)"},
		{name: "let writes overtake a read that waits", file: "proposals.go", test: "TestWritesWaitForAReadThatWaits",
			old: "if l.syncs > 0 || l.asking {", new: "if l.syncs > 0 {"},
		{name: "lead on while the disk hangs", file: "service.go", test: "TestLeaderWhoseDiskHangs",
			old: "	if !m.leads() || m.node", new: "	if true || m.node"},
		{name: "skip a digest", file: "service.go", test: "TestDivergenceStopsAMember",
			old: "	if x == nil {", new: "	if true {"},
		{name: "trust the leader's digest", file: "service.go", test: "TestDivergenceStopsAMember",
			old: "count[d]++; count[d] > members/2 {", new: "count[d]++; d == x.digests[x.leader] {"},
		{name: "forget the HardState", file: "sim_disk_test.go",
			old: "	d.queue, d.busy, d.unsynced = nil, false, nil\n",
			new: "	d.queue, d.busy, d.unsynced = nil, false, nil\n\tif h, _, _ := d.MemoryStorage.InitialState(); h != nil {\n\t\td.SetHardState(&pb.HardState{Commit: h.Commit})\n\t}\n"},
		{name: "expire after a move", file: "state.go",
			old: "return ok && o.Generation == e.Generation", new: "return ok && o.Generation > 0"},
		{name: "a new leader gives no time-out", file: "leases.go",
			old: "		l.until[id] = lease{until: m.now + o.lease()}\n", new: "		l.until[id] = lease{until: m.now + o.lease()/8}\n"},
		{name: "ignore heartbeats of clients", file: "leases.go",
			old: "		case ok:\n", new: "		case ok && id == 0:\n"},
		{name: "count the time of a freeze", file: "member.go", seed: 340,
			old: "m.now += min(now-m.ticked, longestTick)", new: "m.now += now - m.ticked"},
		{name: "apply twice", file: "state.go",
			old: "s.origins[e.Origin] != (origin{e.Boot, e.Seq - 1})", new: "s.origins[e.Origin].boot != e.Boot"},
		{name: "do not propose again", file: "proposals.go",
			old: "p.sent, p.asked, p.idle, p.gap = 0, false, 0, 0", new: "p.asked, p.idle, p.gap = false, 0, 0"},
		{name: "wait long for an overtaken proposal", file: "proposals.go",
			old: "	if p.gap > p.done {", new: "	if false {"},
		{name: "reuse zxids after an election", file: "state.go",
			old: "s.tree.Skip(int64(term) << 32)", new: "s.tree.Skip(1 << 32)"},
		{name: "let the counter of zxids overflow", file: "state.go",
			old: "return uint32(s.tree.Zxid()) < s.counter", new: "return true"},
		{name: "drop the events of an expiry", file: "member.go",
			old: "	m.handler.Apply(a)\n", new: "	if e.Kind == Expire {\n\t\ta.Events = nil\n\t}\n\tm.handler.Apply(a)\n"},
		{name: "answer a read before the client's write", file: "proposals.go",
			old: "	l.steps = append(l.steps, &pendingRequest{ready: true, read: true, run: serve})\n	l.advance()\n", new: "	serve()\n"},
		{name: "lose a move of a session", file: "state.go",
			old: "			a.Result.Err = wire.OK\n			a.Owner = s.own(e.Session, Owner{e.Origin, s.index, e.Txn.Timeout})\n",
			new: "			a.Result.Err = wire.OK\n			a.Owner = Owner{e.Origin, s.index, e.Txn.Timeout}\n"},
		{name: "serve a former owner", file: "state.go", seed: 1450,
			old: "o.Member != e.Origin || o.Generation != e.Generation:", new: "o.Member == 0:"},
		{name: "leave the owners out of a snapshot", file: "snapshot.go",
			old: "	b = wire.AppendInt(b, int32(len(s.owners)))\n	for id, o := range s.owners {\n		b = appendOwner(b, id, o)\n	}\n",
			new: "	b = wire.AppendInt(b, 0)\n"},
		{name: "rely on what a replaced disk had", file: "member.go",
			old: "	if m.hasLost(x.Raft) {", new: "	if false && m.hasLost(x.Raft) {"},
		{name: "compare a copied disk by its length", file: "member.go", test: "TestARestoredTail",
			old: "	if m.config.Joining {\n		last = m.agreed", new: "	if false {\n		last = m.agreed"},
		{name: "step down for a member that lost its disk", file: "member.go", test: "TestASickFollowerHarmsNobodyElse",
			old: "	if m.ticks-l.since >= ElectionTicks {", new: "	if m.ticks >= l.since {"},
		{name: "end connections of clients when one of a member breaks", file: "member.go", test: "TestASickFollowerHarmsNobodyElse",
			old: "	delete(m.versions.newest, id)\n", new: "	delete(m.versions.newest, id)\n	m.handler.Suspend()\n"},
		{name: "let sessions live on", file: "leases.go",
			old: "Duration(o.Timeout)*time.Millisecond + longestTick", new: "Duration(o.Timeout)*time.Millisecond*3 + longestTick"},
		{name: "end the service now and then", file: "service.go",
			old: "	since := m.ticks - s.asked\n", new: "	since := m.ticks - s.asked\n	if m.ticks%150 == 0 {\n		s.suspend(m, \"\")\n	}\n"},
		{name: "count a leader again", file: "member.go", test: "TestALeaderIsCountedOnce",
			old: "term != m.led {", new: "term != 0 {"},
		{name: "propose what a client has given up", file: "proposals.go", test: "TestWithdrawnRequests",
			old: "if s != nil && s.seq > 0 {", new: "if s != nil && s.seq > 1<<62 {"},
		{name: "believe the clock of any member", file: "member.go", test: "TestTimesAreTheLeaders",
			old: "		m.stamp(x.Raft.GetEntries())\n", new: ""},
		{name: "let no time go back", file: "state.go", test: "TestTimesAreTheLeaders",
			old: "	s.time = e.Txn.Time\n", new: "	s.time = max(s.time, e.Txn.Time)\n	e.Txn.Time = s.time\n"},
		{name: "let some of the members begin", file: "service.go", seed: 320,
			old: "return v.joining && isVote(x) }", new: "return false }"},
		{name: "propose what nobody can decode", file: "member.go", test: "TestMessagesThatContradict",
			old: "err != nil || e.GetType() != pb.EntryNormal {", new: "err != nil && e.GetType() != pb.EntryNormal {"},
		{name: "believe a confirmation of what is not there", file: "member.go", test: "TestMessagesThatContradict",
			old: "!x.GetReject() && x.GetIndex() > m.last {", new: "x.GetReject() && x.GetIndex() > m.last {"},
		{name: "follow another history", file: "member.go", test: "TestMessagesThatContradict",
			old: "			m.compareHistory(x)\n", new: ""},
		{name: "raise the version with one member missing", file: "versions.go", test: "TestUpdates",
			old: "			return 0\n", new: "			continue\n"},
		{name: "write in the newest version that the program knows", file: "versions.go", test: "TestUpdates",
			old: "		e.version = m.state.version\n", new: "		e.version = m.config.program.newest()\n"},
		{name: "apply a raise of a deposed leader", file: "state.go", test: "TestRaises",
			old: "		if e.Term == term {\n", new: "		if e.Term != 0 {\n"},
		{name: "lose the version in a snapshot", file: "snapshot.go", test: "TestSnapshotsOfEachVersion",
			old: "cmp.Or(s.version, s.program.oldest)", new: "cmp.Or(s.program.oldest, s.version)"},
		{name: "refuse what is on its way at a raise", file: "member.go", test: "TestProposalsAtARaise",
			old: "p.version > force {", new: "p.version != force {"},
		{name: "write what cannot be read", file: "member.go", test: "TestNothingUnreadableIsWritten",
			old: "			m.checkVersions(x)\n", new: ""},
		{name: "let ensembles have no identity", file: "../peers/peers.go", test: "TestStrangersAreRefused",
			old: "case h.ensemble != 0 && own != 0 && h.ensemble != own:", new: "case h.ensemble != 0 && own != 0 && false:"},
		{name: "trust any certificate of the authority", file: "../peers/peers.go", test: "TestCertificates",
			old: "err := certificate.VerifyHostname(host); err != nil {", new: "err := certificate.VerifyHostname(host); false {"},
		{name: "let two processes be one member", file: "../peers/peers.go", test: "TestOneProcessIsAMember",
			old: "	if p.isTaken(h) {", new: "	if false && p.isTaken(h) {"},
		{name: "keep all connections without a greeting", file: "../peers/peers.go", test: "TestStrangersAreBounded",
			old: "		p.strangers[0].Close()\n", new: ""},
		{name: "take memory as it is announced", file: "../peers/link.go", test: "TestMemoryOfFrames",
			old: "min(n-have, max(step, have))", new: "n - have"},
		{name: "report each attempt to connect", file: "../peers/peers.go", test: "TestAReasonIsReportedOnce",
			old: "	if !again {", new: "	if true || !again {"},
		{name: "show others a certificate that was renewed", file: "../certificates/certificates.go", test: "TestRenewedCertificates",
			old: "		now, _ := r.configFor(nil)\n", new: "		now := r.current\n"},
		{name: "bound no identities", file: "../serve.go", test: "TestIdentitiesAreBoundedTogether",
			old: "c.identityBytes()+len(r.Auth) > maxIdentityBytes:", new: "c.identityBytes() < 0:"},
		{name: "trust a copy of a directory", file: "../ensemble_joining.go", test: "TestACopiedDirectoryJoins",
			old: "	if last == 0 || !in {", new: "	if last == 0 || !in && false {"},
		{name: "drop the last batch when it is damaged", file: "../logfile/replay.go", test: "TestDamageOfTheLastBatchIsRefused", in: "../raftlog",
			old: "	case !b.Frame.torn(rest, b.at, r.Next):", new: "	case false:"},
		{name: "write into the directory of another program", file: "../logfile/directory.go", test: "TestForeignDirectories",
			old: "	if len(foreign) == 0 {", new: "	if true || len(foreign) == 0 {"},
	}
}

// TestPlantedBugsAreFound plants each bug in a copy of its file, and runs the test that must find it.
func TestPlantedBugsAreFound(t *testing.T) {
	testenv.SkipIfShort(t)
	testenv.SkipIfRaced(t)
	for _, b := range plantedBugs() {
		t.Run(b.name, func(t *testing.T) {
			test := "TestSimulation"
			if b.test != "" {
				test = b.test
			}
			out, err := b.run(t, test)
			if err == nil {
				t.Fatalf("%s passes", test)
			}
			found := strings.Contains(out, "--- FAIL: "+test) || strings.Contains(out, "panic: ")
			if !found || strings.Contains(out, "[build failed]") {
				t.Fatalf("%s found nothing:\n%s", test, out)
			}
			_, line, _ := strings.Cut(out, "SEED=")
			line, _, _ = strings.Cut(line, "\n")
			t.Log(line)
		})
	}
}

// run runs a test with the bug.
func (b plantedBug) run(t *testing.T, test string) (string, error) {
	t.Helper()
	source, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), b.old); n != 1 {
		t.Fatalf("%s: the code to change is there %d times, want once", b.file, n)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(b.file))
	file, err := filepath.Abs(b.file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(strings.Replace(string(source), b.old, b.new, 1)), filepath.Join(dir, "overlay"): overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-overlay="+filepath.Join(dir, "overlay"), "-run=^"+test+"$", "./"+cmp.Or(b.in, filepath.Dir(b.file)))
	cmd.Env = append(os.Environ(), "SCHEDULES=3000", fmt.Sprint("SEED=", max(b.seed, 1)))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
