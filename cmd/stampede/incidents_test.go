package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// incidentsMarker ends the part of the page that is written by hand.
const incidentsMarker = "<!-- incidents: written by make docs -->\n"

// incidentsPage checks the table that leads from a symptom to the incident that shows it.
func incidentsPage(t *testing.T) {
	const path = "../../docs/incidents.md"
	byHand, _, found := strings.Cut(contentOf(t, path), incidentsMarker)
	if !found {
		t.Fatalf("%s has no line %q", path, incidentsMarker)
	}
	var page strings.Builder
	page.WriteString(byHand + incidentsMarker + "\n| symptom | command | what avoids it | reported in |\n|---|---|---|---|\n")
	for _, f := range incidentFiles(t) {
		fmt.Fprintf(&page, "| %s | `stampede run -f %s` | %s (%s) | [%s](%s): %s |\n",
			f.About, f.Name, f.Incident.Fixed, contrasted(f), sourceName(f.Incident.Source), f.Incident.Source, f.Incident.Reported)
	}
	golden.Compare(t, path, []byte(page.String()))
}

// shownIncidents checks that each incident shows its symptom, and its fixed form does not: on the server that its file
// starts, and on the others on which the file says that it was seen. A file names only servers on which it was seen.
// The environment variable TIMES has each incident run so often, on the first of these servers only.
func shownIncidents(t *testing.T) {
	testenv.SkipIfShort(t)
	times, err := strconv.Atoi(cmp.Or(os.Getenv("TIMES"), "1"))
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]string{"ZooKeeper": "zookeeper:", "etcd": "etcd:"}
	if _, err := zookeeper.FindInstallation(); err != nil {
		t.Logf("incidents are not run on ZooKeeper: %v", err)
		delete(others, "ZooKeeper")
	}
	for _, f := range incidentFiles(t) {
		t.Run(f.Name, func(t *testing.T) {
			var all shows
			for range times {
				if server := all.run(t, f.Name); !slices.Contains(f.Incident.Reproduced, server) {
					t.Errorf("seen on %q, which is missing in reproduced: %q", server, f.Incident.Reproduced)
				}
			}
			t.Logf("the symptom shows %d of %d times, and not in the fixed form %d of %d times; %v at most",
				all.symptom, times, all.fixed, times, all.longest.Round(100*time.Millisecond))
			if times > 1 {
				return
			}
			for _, server := range f.Incident.Reproduced {
				product, _, _ := strings.Cut(server, " ")
				if url := others[product]; url != "" { // another version may be installed
					all.run(t, f.Name, "--backend", url)
				}
			}
		})
	}
}

// shows counts the runs of one incident that showed its symptom, and those whose fixed form did not.
type shows struct {
	symptom, fixed int
	longest        time.Duration
}

// run runs the incident and returns the server's name.
func (s *shows) run(t *testing.T, name string, args ...string) (server string) {
	t.Helper()
	c := exec.Command("stampede", append([]string{"run", "-f", name, "--no-save", "-q", "-o", "json"}, args...)...)
	var complaints strings.Builder
	c.Stderr = &complaints
	began := time.Now()
	out, failed := c.Output()
	s.longest = max(s.longest, time.Since(began))
	read, err := results.Read(bytes.NewReader(out))
	var exit *exec.ExitError
	if errors.As(failed, &exit) && exit.ExitCode() == cli.ExitViolation && read.Incident != nil && strings.HasPrefix(read.Incident.Symptom, figure.Violations) {
		failed = nil // a safety violation is the symptom, and never a success
	}
	if err != nil || failed != nil {
		t.Errorf("%q: %v: %s", c.Args, failed, complaints.String())
	}
	if err != nil {
		return ""
	}
	for _, g := range read.Gates {
		switch {
		case g.Verdict != results.Pass:
			t.Errorf("%q: %s: %s is %s: %s", c.Args, g.Scenario, g.Text, g.Verdict, g.Why)
		case g.Scenario == results.SymptomScenario:
			s.symptom++
		case g.Scenario == results.FixedScenario:
			s.fixed++
		}
	}
	return read.Runs[0].Backend.Server
}

// incidentFiles returns the files that show an incident.
func incidentFiles(t *testing.T) []scenario.File {
	t.Helper()
	files, err := (&app{forms: catalog.Forms()}).incidentsOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestIncidentsByName checks that exactly the files named as incidents have one.
func TestIncidentsByName(t *testing.T) {
	a := &app{forms: catalog.Forms()}
	for _, name := range scenario.Names() {
		f, err := a.parseScenario(name)
		if err != nil {
			t.Fatal(err)
		}
		if (f.Incident != nil) != scenario.IsIncident(name) {
			t.Errorf("%s: has an incident: %v", name, f.Incident != nil)
		}
	}
}
