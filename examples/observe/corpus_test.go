package observe

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A corpusItem is what the test reads of an item of the corpus.
type corpusItem struct {
	Program, Version, Source, Does, Protocol, Verdict, Why string
	Command                                                []string
	Port                                                   int
	Paths                                                  []struct {
		Path, Verdict, Why string
		Rule               struct{ Says string }
		Notifications      int
		MostWoken          int     `json:"most_woken"`
		WastedShare        float64 `json:"wasted_share"`
	}
}

var verdicts = []string{"herd", "no herd", "all want to know"}

func corpusItems(t *testing.T, half string) map[string]corpusItem {
	t.Helper()
	files, err := filepath.Glob("corpus/" + half + "/*/item.json")
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]corpusItem{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var item corpusItem
		if err := json.Unmarshal(data, &item); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		items[filepath.Dir(file)] = item
	}
	return items
}

// TestCorpusIsWhatItsPacketsShow decodes the packets of every item anew, by the decoder of the corpus.
func TestCorpusIsWhatItsPacketsShow(t *testing.T) {
	folders, err := filepath.Glob("corpus/*/*/traffic.pcap.gz")
	if err != nil || len(folders) < 2 {
		t.Fatalf("%d items, %v", len(folders), err)
	}
	for i, file := range folders {
		folders[i] = filepath.Dir(file)
	}
	if out, err := decodeCorpus(t, folders...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCorpusCheckCanFail alters a count, and the packets.
func TestCorpusCheckCanFail(t *testing.T) {
	for file, alter := range map[string]func(old string) string{
		"item.json": func(old string) string {
			return strings.Replace(old, `"most_woken": 1`, `"most_woken": 2`, 1)
		},
		"traffic.pcap.gz": func(old string) string { return old[:len(old)/2] },
	} {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS("corpus/first/kazoo-lock")); err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), []byte(alter(string(old))), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := decodeCorpus(t, folder); err == nil {
			t.Errorf("with another %s: no difference\n%s", file, out)
		}
	}
}

func decodeCorpus(t *testing.T, folders ...string) (out []byte, err error) {
	t.Helper()
	testenv.SkipIfShort(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the packets of the corpus are not decoded")
	}
	arguments := append([]string{"-B", "corpus/decode.py", "check"}, folders...)
	return exec.Command(python, arguments...).CombinedOutput()
}

func TestCorpusHasEachVerdictInBothHalves(t *testing.T) {
	programs := map[string]bool{}
	for _, half := range []string{"first", "second"} {
		found := map[string]int{}
		for folder, item := range corpusItems(t, half) {
			found[item.Verdict]++
			programs[item.Program] = true
			if item.Version == "" || item.Source == "" || item.Does == "" || item.Why == "" || item.Port == 0 ||
				len(item.Command) == 0 || len(item.Paths) == 0 ||
				item.Protocol != "zookeeper" && item.Protocol != "etcd" {
				t.Errorf("%s is not described", folder)
			}
			for _, row := range item.Paths {
				judged := slices.Contains(verdicts, row.Verdict) && row.Why != "" && row.Rule.Says != ""
				if !judged || row.Notifications == 0 {
					t.Errorf("%s: %s is not judged", folder, row.Path)
				}
				wastes := row.MostWoken >= 2 && row.WastedShare > 0.5
				if wastes != (row.Verdict == "herd") {
					t.Errorf("%s: %s is called %s: %d woken at most, %.0f %% wasted", folder, row.Path, row.Verdict,
						row.MostWoken, 100*row.WastedShare)
				}
			}
		}
		for _, verdict := range verdicts {
			if found[verdict] < 3 {
				t.Errorf("the %s half has %d items with %q, want 3 or more", half, found[verdict], verdict)
			}
		}
	}
	if len(programs) < 10 {
		t.Errorf("%d programs, want 10 or more", len(programs))
	}
}
