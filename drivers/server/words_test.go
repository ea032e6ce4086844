package server

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/wire"
)

func say(t *testing.T, s *Server, word string) string {
	t.Helper()
	r := dialRaw(t, s)
	r.write([]byte(word))
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// metric returns the value that mntr prints for the name.
func metric(t *testing.T, s *Server, name string) string {
	t.Helper()
	for line := range strings.Lines(say(t, s, "mntr")) {
		if value, ok := strings.CutPrefix(line, name+"\t"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("mntr prints no %s", name)
	return ""
}

func TestWords(t *testing.T) {
	s := newServer(t)
	if got := say(t, s, "ruok"); got != "imok" {
		t.Errorf("ruok: %q", got)
	}
	if got := say(t, s, "srvr"); !strings.HasPrefix(got, "Zookeeper version: "+fourletter.Version) ||
		!strings.Contains(got, "\nMode: standalone\nNode count: 5\n") {
		t.Errorf("srvr: %s", got)
	}
	if got := say(t, s, "what"); got != "" {
		t.Errorf("an unknown word was answered with %q", got)
	}
}

func TestMetricsCountWhatTheServerDid(t *testing.T) {
	s := newServer(t)
	r := openRaw(t, s)                                                   // write 1
	r.ask(1, wire.OpExists, wire.PathWatch{Path: "/a", Watch: true})     // read 1
	r.ask(2, wire.OpGetChildren, wire.PathWatch{Path: "/", Watch: true}) // read 2
	r.write(request(3, wire.OpCreate, open("/a", wire.FlagEphemeral)))   // write 2: fires both watches
	r.read()
	r.read()
	r.read()                                                              // two events, one reply
	r.ask(4, wire.OpCreate, open("/a", 0))                                // write 3 fails
	r.ask(wire.XidPing, wire.OpPing, nil)                                 // read 3
	r.ask(5, wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true})     // read 4
	r.ask(6, wire.OpGetChildren, wire.PathWatch{Path: "/a", Watch: true}) // read 5
	for name, want := range map[string]string{
		"zk_version":                       fourletter.Version + ", built on " + fourletter.Built(),
		"zk_cnt_readlatency":               "5",
		"zk_cnt_updatelatency":             "3",
		"zk_watch_count":                   "2",
		"zk_ephemerals_count":              "1",
		"zk_sum_node_created_watch_count":  "1",
		"zk_sum_node_children_watch_count": "1",
		"zk_sum_node_deleted_watch_count":  "0",
	} {
		if got := metric(t, s, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	r.write(request(7, wire.OpCloseSession, nil)) // write 4: the deletion finds two watches
	r.read()
	r.read()
	if got := metric(t, s, "zk_sum_node_deleted_watch_count"); got != "2" {
		t.Errorf("%s watches fired by the deletion, want 2", got)
	}
	if got := say(t, s, "srst"); got != "Server stats reset.\n" {
		t.Errorf("srst: %q", got)
	}
	for _, name := range []string{"zk_cnt_updatelatency", "zk_sum_node_deleted_watch_count"} {
		if got := metric(t, s, name); got != "0" {
			t.Errorf("%s is %s after a reset", name, got)
		}
	}
}

// Run announces its process ID, go-zookeeper can parse its srvr, and the end of the context ends
// the server.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at, err := reexec.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	place := cluster.Place{Number: 1, Members: []cluster.Addresses{{Clients: at}}, Durability: Memory}
	serving, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, Options{}, place, func(pid string) { serving <- pid }) }()
	if got, want := <-serving, strconv.Itoa(os.Getpid()); got != want {
		t.Errorf("announced %s, want the id of this process, %s", got, want)
	}
	stats, ok := zk.FLWSrvr([]string{at}, 10*time.Second)
	if !ok || stats[0].Mode != zk.ModeStandalone || stats[0].Version != fourletter.Version || stats[0].NodeCount != 5 {
		t.Errorf("%+v", stats[0])
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if nc, err := net.Dial("tcp", at); err == nil {
		nc.Close()
		t.Error("still listening")
	}
}

// TestMntrCountsFileDescriptors opens files of this process, in which the server runs. Connections of other tests
// may close meanwhile.
func TestMntrCountsFileDescriptors(t *testing.T) {
	s := newServer(t)
	count := func(name string) int {
		n, err := strconv.Atoi(metric(t, s, name))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const files = 200
	before := count("zk_open_file_descriptor_count")
	for range files {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	after, most := count("zk_open_file_descriptor_count"), count("zk_max_file_descriptor_count")
	if grown := after - before; grown < files/2 || grown > files || most < after {
		t.Errorf("%d, then %d open of at most %d, want %d more", before, after, most, files)
	}
}
