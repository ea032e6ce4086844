package server_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestWordsOfZooKeeper compares the four-letter words' answers after the same requests. It ignores
// numbers, names and dates, and compares the lines' order where ZooKeeper defines one.
func TestWordsOfZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	apache := backendtest.ZooKeeper(t, "")
	p := newPair(t, backendtest.Native(t, server.Options{}), apache, 1)
	p.ask(0, request{wire.OpCreate, wire.CreateRequest{Path: "/a", Data: []byte("x"), ACL: []wire.ACL{wire.OpenACL()}, Flags: wire.FlagEphemeral}})
	p.ask(1, request{wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true}}, request{wire.OpExists, wire.PathWatch{Path: "/b", Watch: true}})
	p.ask(2, request{wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true}})
	for _, word := range []string{"ruok", "isro", "srvr", "stat", "cons", "wchs", "wchc", "wchp", "dump", "crst", "srst", "what"} {
		ours, theirs := shape(say(t, p.sides[0].address, word)), shape(say(t, p.sides[1].address, word))
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s (-ZooKeeper +native):\n%s", word, diff)
		}
	}
	for word, separator := range map[string]string{"conf": "=", "envi": "=", "mntr": "\t"} {
		ours, theirs := keys(say(t, p.sides[0].address, word), separator), keys(say(t, p.sides[1].address, word), separator)
		for _, key := range ours {
			if !slices.Contains(theirs, key) {
				t.Errorf("%s: ZooKeeper has no %q", word, key)
			}
		}
		if word == "conf" && !slices.Equal(ours, theirs) {
			t.Errorf("conf has %q, ZooKeeper's has %q", ours, theirs)
		}
	}
	for _, name := range []string{"zk_znode_count", "zk_watch_count", "zk_ephemerals_count", "zk_approximate_data_size",
		"zk_num_alive_connections", "zk_global_sessions"} {
		ours, theirs := metric(t, p.sides[0].address, name), metric(t, p.sides[1].address, name)
		if ours != theirs {
			t.Errorf("%s is %s, ZooKeeper's %s", name, ours, theirs)
		}
	}
}

var (
	varying = regexp.MustCompile(`0x[0-9a-f]+|\d+\.\d+\.\d+\S*|\d+(\.\d+)?`)
	date    = regexp.MustCompile(`(at|built on) .*`)
)

// shape returns the constant part of an answer, with its lines in any order. The number of items
// that expire at the same time is random.
func shape(answer string) []string {
	answer = date.ReplaceAllString(answer, "$1 DATE")
	answer = strings.ReplaceAll(answer, "-stampede-native", "")
	lines := sortedLines(strings.SplitAfter(varying.ReplaceAllString(answer, "N"), "\n"))
	return slices.CompactFunc(lines, func(a, b string) bool { return a == b && strings.Contains(a, "expire at") })
}

func keys(answer, separator string) (list []string) {
	for line := range strings.Lines(answer) {
		key, _, _ := strings.Cut(strings.TrimRight(line, "\n"), separator)
		list = append(list, key)
	}
	return list
}

func metric(t *testing.T, address, name string) string {
	t.Helper()
	for line := range strings.Lines(say(t, address, "mntr")) {
		if value, ok := strings.CutPrefix(line, name+"\t"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("mntr prints no %s", name)
	return ""
}
