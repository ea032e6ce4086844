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

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/capture"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/observe"
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
func readItem(t *testing.T, folder string) (item corpusItem, r observe.Report) {
	t.Helper()
	item.folder = filepath.Base(folder)
	text, err := os.ReadFile(filepath.Join(folder, "item.json"))
	if err == nil {
		err = json.Unmarshal(text, &item)
	}
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(folder, "traffic.pcap.gz"))
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
	a, protocol := observe.New(observe.DefaultLimits), traffic.ZooKeeper()
	if item.Protocol == "etcd" {
		protocol = etcd.Protocol()
	}
	if _, err := capture.Read([]io.Reader{bytes.NewReader(packets)}, capture.Options{Protocol: protocol, Observer: a, Ports: []uint16{item.Port}}); err != nil {
		t.Fatal(err)
	}
	return item, a.Report()
}

// rowOf returns the row of the place that has its notifications and no others, nil if there is none: several rows
// may be one place.
func (i corpusItem) rowOf(p observe.Place) *corpusPath {
	for n := range i.Paths {
		if row := &i.Paths[n]; observe.Fold(strings.ReplaceAll(row.Path, "*", "0")) == strings.ReplaceAll(p.Path, "-#", "#") || strings.ReplaceAll(row.Path, "*", "#") == p.Path {
			if row.Notifications == p.Notifications {
				return row
			}
		}
	}
	return nil
}

// reason says of an item why a wasted share may differ by more than two points.
var reason = map[string]string{
	"kazoo-semaphore":   "the holder of the inner lock goes on to wait for the semaphore beside it: 2 of 23 are said to have led to another wait",
	"taskflow-jobboard": "a worker that lists the jobs and tries to lock one has acted, also where it then waits for the next: 23 useful of 216, want 12 of 252",
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
			item, r := readItem(t, folder)
			var want int64
			for _, p := range item.Paths {
				want += p.Notifications
			}
			if r.Traffic.Notifications != want {
				t.Errorf("%d notifications, want %d", r.Traffic.Notifications, want)
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
