package libraries

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results/units"
)

// A column is a fault that the programs are run under.
type column struct {
	name         string // "cut", or a preset
	fault        string // with PATH for the node of the program
	native, etcd string // backends
}

// columns are the faults of the tables of docs/break.md that have a verdict: a cut, and the presets.
func columns(t *testing.T) []column {
	all := []column{{"cut", "at=6s cut node=PATH", native, etcd}}
	for _, p := range faults.Presets() {
		c := column{p.Name, strings.Join(p.Faults, "\n"), native, etcd}
		switch p.Name {
		case "restart":
			c.native = "native:?durability=fsync"
		case "leader-change":
			c.native, c.etcd = "native:?servers=3", "etcd:?servers=3"
		case "lost-reply":
			continue // it comes when most have made their nodes
		}
		// The programs are to be ready, also on a slow machine: each fault waits for the program's node.
		c.fault = strings.NewReplacer("clients=all", "node=PATH", "members=all", "members=all once=PATH", "kill leader", "kill leader once=PATH").Replace(c.fault)
		if strings.Count(c.fault, "PATH") != 1 || strings.Contains(c.fault, "\n") {
			t.Fatalf("the preset %s is not as this test has it: %q", p.Name, p.Faults)
		}
		all = append(all, c)
	}
	return all
}

// TestLibrariesUnderFaults runs each program under the faults of docs/break.md, and checks what the page says of it.
func TestLibrariesUnderFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	stampede := build(t, "../../../cmd/stampede")
	for _, p := range programs {
		want, named := verdicts[p.name]
		if !named {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range columns(t) {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel() // each waits most of the time
					command := p.command(t)
					command[len(command)-1] = "25" // seconds
					backend := c.native
					if p.backend == etcd {
						backend = c.etcd
					}
					fault := strings.Replace(c.fault, "PATH", p.nodes[len(p.nodes)-1], 1)
					result := filepath.Join(t.TempDir(), "observation.json")
					observe := exec.CommandContext(t.Context(), stampede, append([]string{"observe", "--no-save", "--backend", backend, "-o", "json=" + result,
						"--fault", fault, "--env", "ZK_CONNECT={address}", "--"}, command...)...)
					if out, err := observe.CombinedOutput(); err != nil {
						t.Errorf("%v:\n%s", err, out)
					}
					text, err := os.ReadFile(result)
					if err != nil {
						t.Fatal(err)
					}
					var o struct{ Recovery recovery.Report }
					if err := json.Unmarshal(text, &o); err != nil {
						t.Fatal(err)
					}
					t.Log(o.Recovery.Sentence(recovery.Format{Duration: units.Duration, Count: units.Count}))
					if got := o.Recovery.Verdict; got != want.of(c.name) {
						t.Errorf("%s %s, want %s: %+v", got, o.Recovery.Reason, want.of(c.name), o.Recovery.Outcomes)
					}
				})
			}
		})
	}
}

// Exceptions say what becomes of a program after the faults that it does not recover from; it recovers from all others.
type exceptions map[string]recovery.Verdict

func (e exceptions) of(fault string) recovery.Verdict {
	if v, excepted := e[fault]; excepted {
		return v
	}
	return recovery.Recovers
}

// verdicts are what becomes of the programs.
var verdicts = map[string]exceptions{
	"kazoo":                 {},
	"Curator":               {},
	"go-zookeeper":          {"expiry": recovery.RecoversPartly},
	"node-zookeeper-client": {"expiry": recovery.NotRecovered},
	"Patroni":               {},
	"etcd client":           {},
	"etcd session":          {},
}

// TestPageSaysWhatTheLibrariesDo compares the tables of docs/break.md with the verdicts.
func TestPageSaysWhatTheLibrariesDo(t *testing.T) {
	page, err := os.ReadFile("../../../docs/break.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := compare(string(page), columns(t)); err != nil {
		t.Error(err)
	}
	wrong := strings.Replace(string(page), "| recovers partly", "| recovers", 1)
	if wrong == string(page) || compare(wrong, columns(t)) == nil {
		t.Error("a page that says something else passes")
	}
}

// compare says what the page has otherwise than the verdicts. Its first table has the times after an expiry and a cut, the second the presets.
func compare(page string, all []column) (err error) {
	headings := []string{}
	for _, p := range faults.Presets() {
		headings = append(headings, p.Name)
	}
	if line := "| library | `" + strings.Join(headings, "` | `") + "` |"; !strings.Contains(page, line) {
		return fmt.Errorf("the page has no table with the heading %s", line)
	}
	said := regexp.MustCompile("^[a-z/ ]+")
	for name, want := range verdicts {
		times := regexp.MustCompile(`(?m)^\| ` + name + ` \| [^|]*` + "`" + ` \| ([^|]*) \| ([^|]*) \|$`).FindStringSubmatch(page)
		presets := regexp.MustCompile(`(?m)^\| ` + name + ` ` + strings.Repeat(`\| ([^|]*) `, len(headings)) + `\|$`).FindStringSubmatch(page)
		if times == nil || presets == nil {
			err = errors.Join(err, fmt.Errorf("a table has no row of %s", name))
			continue
		}
		cells := map[string][]string{"expiry": {times[1]}, "cut": {times[2]}}
		for i, h := range headings {
			cells[h] = append(cells[h], presets[1+i])
		}
		for _, c := range all {
			for _, cell := range cells[c.name] {
				if v := said.FindString(cell); v != string(want.of(c.name)) {
					err = errors.Join(err, fmt.Errorf("the page says of %s after %s %q, want %q", name, c.name, v, want.of(c.name)))
				}
			}
		}
	}
	return err
}
