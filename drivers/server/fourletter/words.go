package fourletter

import (
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
	if s.Ensemble != nil && !s.Ensemble.Serving && needsService(word) {
		return notServing
	}
	return printable.Text(answers[word](s))
}

// notServing is ZooKeeper's answer of a member that knows of no majority.
const notServing = "This ZooKeeper instance is not currently serving requests\n"

func needsService(word string) bool { return word != "ruok" && word != "envi" }

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
	switch code {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return "CREA"
	case wire.OpDelete, wire.OpDeleteContainer:
		return "DELE"
	case wire.OpExists:
		return "EXIS"
	case wire.OpGetData:
		return "GETD"
	case wire.OpSetData:
		return "SETD"
	case wire.OpGetACL:
		return "GETA"
	case wire.OpSetACL:
		return "SETA"
	case wire.OpGetChildren, wire.OpGetChildren2:
		return "GETC"
	case wire.OpAllChildrenNum:
		return "GETACN"
	case wire.OpGetEphemerals:
		return "GETE"
	case wire.OpSync:
		return "SYNC"
	case wire.OpPing:
		return "PING"
	case wire.OpCheck:
		return "CHEC"
	case wire.OpMulti:
		return "MULT"
	case wire.OpMultiRead:
		return "MLTR"
	case wire.OpReconfig:
		return "RECO"
	case wire.OpCheckWatches:
		return "CHKW"
	case wire.OpRemoveWatches:
		return "REMW"
	case wire.OpSetWatches:
		return "SETW"
	case wire.OpSetWatches2:
		return "STW2"
	case wire.OpAddWatch:
		return "ADDW"
	case wire.OpWhoAmI:
		return "HOMI"
	case wire.OpCreateSession:
		return "SESS"
	}
	return "NA"
}
