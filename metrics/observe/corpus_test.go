package observe_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/capture"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A corpusItem is what examples/observe/corpus says of a program's traffic, counted by a decoder of its own.
type corpusItem struct {
	Protocol string
	Port     uint16
	Verdict  string // herd, no herd, or all want to know
	folder   string // its name
	Paths    []corpusPath
	Events   []corpusEvent
}

// A corpusEvent is the sum of all that sessions did in the time of an event in which nothing else happened.
type corpusEvent struct {
	Begins               string // operation and first path
	Notifications, Woken int64
	Reads, Writes        int64
	FailedWrites         int64 `json:"failed_writes"`
}

type corpusPath struct {
	Path          string // numbers and random identifiers are *
	Verdict       string
	Notifications int64
	Sessions      int
	MostWoken     int64 `json:"most_woken"`
	Wasted        int64
	Alternative   string // another reading of what is wasted, "" if there is none
}

// readItem returns the item in a folder, and what is observed of its traffic.
func readItem(t *testing.T, folder string) (item corpusItem, r observation.Report, counted answers) {
	t.Helper()
	item.folder = filepath.Base(folder)
	text, err := os.ReadFile(filepath.Join(folder, "item.json"))
	if err == nil {
		err = json.Unmarshal(text, &item)
	}
	if err != nil {
		t.Fatal(err)
	}
	packets := unpacked(t, filepath.Join(folder, "traffic.pcap.gz"))
	a, protocol := observe.New(observe.DefaultLimits), traffic.ZooKeeper()
	if item.Protocol == "etcd" {
		protocol = etcd.Captured()
	}
	if _, err := capture.Read([]io.Reader{bytes.NewReader(packets)}, capture.Options{Protocol: protocol, Observer: &answersObserver{a, &counted}, Ports: []uint16{item.Port}}); err != nil {
		t.Fatal(err)
	}
	return item, a.Report(), counted
}

// TestGatewayAsksItself reads packets from etcd's own host, which was captured from its start: its gateway asks the
// server by gRPC what the clients ask by JSON. Each request counts once, but by a proxy, which the gateway does not
// pass.
func TestGatewayAsksItself(t *testing.T) {
	packets := unpacked(t, "testdata/gateway-itself.pcap.gz")
	for times, protocol := range map[int64]traffic.Protocol{1: etcd.Captured(), 2: etcd.Protocol()} {
		a := observe.New(observe.DefaultLimits)
		o := capture.Options{Protocol: protocol, Observer: a, Ports: []uint16{39489}}
		if _, err := capture.Read([]io.Reader{bytes.NewReader(packets)}, o); err != nil {
			t.Fatal(err)
		}
		got := a.Report().Traffic
		if got.Requests != 74*times || got.FailedWrites != 60*times || len(got.Undecoded) > 0 {
			t.Errorf("%d requests, %d failed writes, not decoded %+v; want %d, %d, none", got.Requests, got.FailedWrites, got.Undecoded,
				74*times, 60*times)
		}
	}
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	packets, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return packets
}

// answers are the requests of all connections, by whether a reply to the same operation came.
type answers struct{ answered, unanswered int64 }

type answersObserver struct {
	*observe.Analysis
	*answers
}

func (o *answersObserver) Open(c traffic.Connection) traffic.Tap {
	return &answersTap{Tap: o.Analysis.Open(c), all: o.answers, asked: map[drivers.Op]int{}}
}

type answersTap struct {
	traffic.Tap
	all      *answers
	asked    map[drivers.Op]int
	numbered bool // its session is, and begins with packets that are no requests
}

func (t *answersTap) Session(at time.Time, s traffic.Session) {
	t.numbered = !s.Lease
	t.Tap.Session(at, s)
}

func (t *answersTap) Message(at time.Time, m drivers.Message) {
	switch {
	case m.Kind == drivers.Request:
		t.asked[m.Op]++
		t.all.unanswered++
	case m.Kind == drivers.Reply && t.asked[m.Op] > 0:
		t.asked[m.Op]--
		t.all.unanswered--
		if !t.numbered || m.Op != drivers.OpOpen {
			t.all.answered++
		}
	}
	t.Tap.Message(at, m)
}

// rowOf returns the row of the place that has its notifications and no others, nil if there is none: several rows
// may be one place.
func (i corpusItem) rowOf(p observation.Place) *corpusPath {
	for n := range i.Paths {
		if row := &i.Paths[n]; pathname.Fold(strings.ReplaceAll(row.Path, "*", "0")) == strings.ReplaceAll(p.Path, "-#", "#") || strings.ReplaceAll(row.Path, "*", "#") == p.Path {
			if row.Notifications == p.Notifications {
				return row
			}
		}
	}
	return nil
}

// reason says of an item why a wasted share may differ by more than two points.
var reason = map[string]string{
	"taskflow-jobboard": "a worker that lists the jobs and tries to lock one has acted, also where it then waits for the next: 23 useful of 216, want 12 of 252",
}

// history is how many of an item's events were played back to clients that were not waiting for them, and so wake nobody.
var history = map[string]int64{
	"etcd-double-barrier": 7, // who has listed all waits for the end of a key from the revision at which it was created
}

// TestCorpus compares what is observed of real programs' traffic with what the corpus says of it: the notifications, the
// verdict, and the share that was wasted.
func TestCorpus(t *testing.T) {
	for _, half := range []string{"first", "second"} {
		t.Run(half, func(t *testing.T) { compareWithCorpus(t, half) })
	}
}

func wantEvent(t *testing.T, want corpusEvent, among []causality.Event) {
	t.Helper()
	for _, e := range among {
		begins := e.Op + " " + e.Paths[0]
		if (corpusEvent{begins, e.Notifications, e.Woke, e.Reads, e.Writes, e.FailedWrites}) == want {
			return
		}
	}
	t.Errorf("no event %+v in %+v", want, among)
}

func compareWithCorpus(t *testing.T, half string) {
	t.Helper()
	folders, err := filepath.Glob("../../examples/observe/corpus/" + half + "/*")
	if err != nil || len(folders) < 30 {
		t.Fatalf("%d items, %v", len(folders), err)
	}
	shares := 0
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			item, r, counted := readItem(t, folder)
			want := -history[filepath.Base(folder)]
			for _, p := range item.Paths {
				want += p.Notifications
			}
			if r.Traffic.Notifications != want {
				t.Errorf("%d notifications, want %d", r.Traffic.Notifications, want)
			}
			var answered int64
			for _, o := range r.Operations {
				answered += o.Requests
			}
			if all := r.Traffic.Requests; answered != counted.answered || all != counted.answered+counted.unanswered {
				t.Errorf("%d requests, operations with %d answered; want %d more, %d", all, answered, counted.unanswered, counted.answered)
			}
			if herds := r.Herds(); (len(herds) > 0) != (item.Verdict == "herd") {
				t.Errorf("%s: herds %+v", item.Verdict, herds)
			}
			if item.Protocol == "etcd" && r.Traffic.Sessions > r.Traffic.Connections { // a client may have several leases
				t.Errorf("%d sessions by %d connections", r.Traffic.Sessions, r.Traffic.Connections)
			}
			for _, e := range item.Events {
				wantEvent(t, e, r.Events.Largest)
			}
			for _, p := range r.Places {
				row := item.rowOf(p)
				if row != nil && p.Sessions > row.Sessions {
					t.Errorf("%s: watched by %d, want at most %d", p.Path, p.Sessions, row.Sessions)
				}
				if row == nil || p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
					continue
				}
				shares++
				counted := *p.Useful + *p.Wasted // without those that came when a session had its turn: the corpus calls them wasted
				got, want := share(*p.Wasted, *p.Useful), share(row.Wasted-(row.Notifications-counted), row.Notifications-row.Wasted)
				if all := share(row.Wasted, row.Notifications-row.Wasted); math.Abs(got-all) < math.Abs(got-want) {
					want = all
				}
				if row.Alternative == "" && reason[item.folder] == "" && math.Abs(got-want) > max(0.02, share(1, row.Notifications-1)) {
					t.Errorf("%s: %d of %d wasted, want %d of %d", p.Path, *p.Wasted, counted, row.Wasted, row.Notifications)
				}
			}
		})
	}
	if shares < 30 {
		t.Errorf("the wasted share of %d places was compared", shares)
	}
}
