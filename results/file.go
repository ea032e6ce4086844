package results

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Schema is the version of the file format that this package writes. Warnings have codes since
// version 2, and verdicts the words of Verdict since version 3.
const Schema = 3

// A File is the result of one command. Durations are in nanoseconds, sizes in
// bytes, throughput per second, unless a name says otherwise. What does not
// apply is left out; a percentile that too few observations support is null.
type File struct {
	Schema  int       `json:"schema"`
	ID      string    `json:"id"`      // of the start and the recipes, e.g. "20261121-093105-022871-lock"; ids sort by time
	Started time.Time `json:"started"` // UTC
	Marks
	Tool    Tool     `json:"tool"`
	Host    Host     `json:"host"`
	Command []string `json:"command"` // that does the same again, credentials redacted
	Seed    uint64   `json:"seed"`
	// Interrupted: the command was ended early; the last run may be shorter
	// than asked for, and others may be missing.
	Interrupted bool `json:"interrupted,omitempty"`
	// Took is how long the whole command took.
	Took time.Duration `json:"took_ns"`
	// Skipped has a line for each part that was left out, with the reason.
	Skipped []string `json:"skipped,omitempty"`
	// Scenario is the scenario file that it was run from, by its name without
	// folder and suffix; left out otherwise.
	Scenario string `json:"scenario,omitempty"`
	// Percentiles are those that tables show and findings cite, where they were
	// chosen.
	Percentiles []float64 `json:"percentiles,omitempty"`
	// Reference is what the scenario file sets beside the runs.
	Reference *Reference `json:"reference,omitempty"`
	// Gates are the judged thresholds, and Verdict follows from all of them; both are left out
	// without thresholds.
	Gates   []Gate  `json:"gates,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	Runs    []Run   `json:"runs"`
	// Summary has the medians over the repetitions of each form at each number of
	// clients, with their intervals; left out where nothing was repeated, and missing in
	// older files.
	Summary []Level `json:"summary,omitempty"`
}

// New starts the file of a command that runs the recipes.
func New(tool Tool, command, recipes []string, seed uint64) File {
	now := time.Now().UTC()
	return File{
		Schema:  Schema,
		ID:      id(now, recipes),
		Started: now,
		Tool:    tool,
		Host:    ThisHost(),
		Command: command,
		Seed:    seed,
		Runs:    []Run{},
	}
}

// id returns an identifier that is unique as long as no two commands start in the same microsecond.
// Identifiers sort by start time.
func id(at time.Time, recipes []string) string {
	const many = 3
	about := strings.Join(recipes, "-")
	if len(recipes) > many {
		about = fmt.Sprintf("%d-recipes", len(recipes))
	}
	return strings.ReplaceAll(at.Format("20060102-150405.000000-"), ".", "-") + about
}

// A Tool is the stampede that did it.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// A Host is the machine that the generator ran on.
type Host struct {
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that the generator may use
	MemoryBytes int64  `json:"memory_bytes"`
}

// ThisHost describes this machine. Fields that cannot be determined are empty.
func ThisHost() Host {
	h := Host{OS: runtime.GOOS, Cores: runtime.GOMAXPROCS(0)}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(b))
	}
	h.CPU = procField("/proc/cpuinfo", "model name")
	var kib int64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal"), "%d kB", &kib); err == nil {
		h.MemoryBytes = kib << 10
	}
	return h
}

// procField returns the value of the first line "name : value" in a file of /proc.
func procField(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
