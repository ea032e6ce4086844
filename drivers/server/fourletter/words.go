package fourletter

import (
	"cmp"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/stats"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/printable"
)

// Version is the version that the server reports: the ZooKeeper version of its protocol and the
// name of the implementation.
const Version = "3.9.0-stampede-native"

// answers maps the four-letter words to the functions that answer them.
var answers = map[string]func(State) string{
	"ruok": func(State) string { return "imok" },
	"isro": func(State) string { return "rw" },
	"srvr": func(s State) string { return version() + s.overview() },
	"stat": func(s State) string { return version() + "Clients:\n" + s.clients(State.brief) + s.overview() },
	"cons": func(s State) string { return s.clients(State.full) },
	"mntr": State.monitor,
	"conf": State.configuration,
	"envi": func(State) string { return environment() },
	"wchs": State.watchSummary,
	"wchc": State.watchesBySession,
	"wchp": State.watchesByPath,
	"dump": State.dump,
	"srst": State.resetServer,
	"crst": State.resetConnections,
}

// Names returns the four-letter words that a server can answer, sorted.
func Names() []string { return slices.Sorted(maps.Keys(answers)) }

// Answer returns the answer to a word. Answers go to terminals, so control characters in watched
// paths are escaped.
func Answer(word string, s State) string {
	if s.Ensemble != nil && !s.Ensemble.Serving && word != "ruok" && word != "envi" {
		return notServing
	}
	return printable.Text(answers[word](s))
}

// notServing is ZooKeeper's answer of a member that knows of no majority.
const notServing = "This ZooKeeper instance is not currently serving requests\n"

// Known reports whether there is an answer to the word.
func Known(word string) bool { return answers[word] != nil }

// Refusal returns ZooKeeper's answer to a disabled word.
func Refusal(word string) string {
	return word + " is not executed because it is not in the whitelist.\n"
}

func (s State) resetServer() string {
	*s.Counters = stats.Counters{}
	return "Server stats reset.\n"
}

func (s State) resetConnections() string {
	s.ResetConnections()
	return "Connection stats reset.\n"
}

// Built returns the commit time of the running binary's source, or 1970 if it is unknown.
func Built() string {
	at := time.Unix(0, 0)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.time" {
				at, _ = time.Parse(time.RFC3339, setting.Value)
			}
		}
	}
	return at.UTC().Format("01/02/2006 15:04 UTC")
}

func version() string {
	return fmt.Sprintf("Zookeeper version: %s, built on %s\n", Version, Built())
}

func (s State) overview() string {
	var b strings.Builder
	l := &s.Counters.Latency
	fmt.Fprintf(&b, "Latency min/avg/max: %d/%s/%d\n", l.Min, l.Mean(), l.Max)
	fmt.Fprintf(&b, "Received: %d\nSent: %d\n", s.Counters.Received, s.Counters.Sent)
	fmt.Fprintf(&b, "Connections: %d\nOutstanding: 0\n", s.Connections)
	fmt.Fprintf(&b, "Zxid: 0x%x\nMode: %s\n", s.Zxid, s.mode())
	fmt.Fprintf(&b, "Node count: %d\n", s.Nodes)
	return b.String()
}

// mode returns the server's role.
func (s State) mode() string {
	if s.Ensemble == nil {
		return "standalone"
	}
	return s.Ensemble.Role
}

// operation returns the name that "cons" uses for a request.
func operation(code int32) string {
	return cmp.Or(map[int32]string{

		wire.OpCreate: "CREA", wire.OpCreate2: "CREA", wire.OpCreateContainer: "CREA", wire.OpCreateTTL: "CREA",
		wire.OpDelete: "DELE", wire.OpDeleteContainer: "DELE", wire.OpExists: "EXIS", wire.OpGetData: "GETD",
		wire.OpSetData: "SETD", wire.OpGetACL: "GETA", wire.OpSetACL: "SETA",
		wire.OpGetChildren: "GETC", wire.OpGetChildren2: "GETC", wire.OpAllChildrenNum: "GETACN",
		wire.OpGetEphemerals: "GETE", wire.OpSync: "SYNC", wire.OpPing: "PING", wire.OpCheck: "CHEC",
		wire.OpMulti: "MULT", wire.OpMultiRead: "MLTR", wire.OpReconfig: "RECO", wire.OpCheckWatches: "CHKW",
		wire.OpRemoveWatches: "REMW", wire.OpSetWatches: "SETW", wire.OpSetWatches2: "STW2",
		wire.OpAddWatch: "ADDW", wire.OpWhoAmI: "HOMI", wire.OpCreateSession: "SESS",
	}[code], "NA")
}

// clients lists the connections, oldest first.
func (s State) clients(describe func(State, Client) string) string {
	var b strings.Builder
	oldestFirst := slices.SortedFunc(slices.Values(s.Clients()), func(x, y Client) int {
		return cmp.Or(x.Traffic.Opened.Compare(y.Traffic.Opened), cmp.Compare(x.Address, y.Address))
	})
	for _, c := range oldestFirst {
		fmt.Fprintf(&b, " %s[%d](%s)\n", c.name(), c.interest(), describe(s, c))
	}
	b.WriteByte('\n')
	return b.String()
}

// name returns the client's address in Java's format.
func (c Client) name() string { return "/" + c.Address }

// interest is 1 for a connection with a session, and 0 for one without, such as that of a
// four-letter word.
func (c Client) interest() int {
	if c.Session == nil {
		return 0
	}
	return 1
}

// brief returns the fields that "stat" shows for a connection.
func (s State) brief(c Client) string {
	return fmt.Sprintf("queued=0,recved=%d,sent=%d", c.Traffic.Received, c.Traffic.Sent)
}

// full returns the fields that "cons" shows for a connection.
func (s State) full(c Client) string {
	if c.Session == nil {
		return s.brief(c)
	}
	t := c.Traffic
	text := fmt.Sprintf("%s,sid=0x%x,lop=%s,est=%d,to=%d", s.brief(c), c.Session.ID, operation(t.Last.Op),
		t.Opened.UnixMilli(), c.Session.Timeout.Milliseconds())
	if t.Last.Xid >= 0 {
		text += fmt.Sprintf(",lcxid=0x%x", t.Last.Xid)
	}
	var answered int64
	if !t.Answered.IsZero() {
		answered = t.Answered.Sub(s.Start).Milliseconds()
	}
	return text + fmt.Sprintf(",lzxid=0x%x,lresp=%d,llat=%d,minlat=%d,avglat=%d,maxlat=%d",
		t.Zxid, answered, t.Lag, t.Latency.Min, t.Latency.Sum/max(t.Latency.Count, 1), t.Latency.Max)
}

// dump lists when sessions and connections expire, and the ephemeral nodes of the sessions.
func (s State) dump() string {
	var b strings.Builder
	sessions, conns := expiries{}, expiries{}
	open := s.OpenSessions()
	for _, x := range open {
		sessions.add(x.Expires, fmt.Sprintf("0x%x", x.ID))
	}
	for _, c := range s.Clients() {
		var id int64
		if c.Session != nil {
			id = c.Session.ID
		}
		conns.add(c.Expires, fmt.Sprintf("ip: %s sessionId: 0x%x", c.name(), id))
	}
	fmt.Fprintf(&b, "SessionTracker dump:\nSession %sephemeral nodes dump:\n", sessions)
	b.WriteString(ephemerals(open))
	fmt.Fprintf(&b, "Connections dump:\nConnections %s", conns)
	return b.String()
}

// expiries maps a Unix time in seconds to the items that expire then.
type expiries map[int64][]string

func (e expiries) add(at time.Time, what string) { e[at.Unix()] = append(e[at.Unix()], what) }

// String lists them as ZooKeeper does.
func (e expiries) String() string {
	var b strings.Builder
	count := 0
	for _, list := range e {
		count += len(list)
	}
	fmt.Fprintf(&b, "Sets (%d)/(%d):\n", len(e), count)
	for _, at := range slices.Sorted(maps.Keys(e)) {
		fmt.Fprintf(&b, "%d expire at %s:\n", len(e[at]), time.Unix(at, 0).Format("Mon Jan 02 15:04:05 MST 2006"))
		for _, what := range slices.Sorted(slices.Values(e[at])) {
			fmt.Fprintf(&b, "\t%s\n", what)
		}
	}
	return b.String()
}

func ephemerals(sessions []Session) string {
	owned := map[string][]string{}
	for _, s := range sessions {
		if paths := slices.Sorted(s.Ephemerals); len(paths) > 0 {
			owned[fmt.Sprintf("0x%x", s.ID)] = paths
		}
	}
	return fmt.Sprintf("Sessions with Ephemerals (%d):\n", len(owned)) + tabbed(owned, ":")
}

// tabbed lists each key and, on the following lines behind a tab, its items.
func tabbed(lists map[string][]string, colon string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "%s%s\n", key, colon)
		for _, item := range lists[key] {
			fmt.Fprintf(&b, "\t%s\n", item)
		}
	}
	return b.String()
}
