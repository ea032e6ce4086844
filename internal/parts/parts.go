// Package parts divides make check into parts: for each test of the module it says which part runs it.
//
// A part takes less than ten minutes on two cores, so that a change is checked by the parts of the packages that it
// touches. Each test without -short belongs to exactly one part.
package parts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Part is what make check-NAME runs: the tests of its rows, and then its commands.
type Part struct {
	Name string
	What string // what it checks, for a table
	// Serial says that its tests start real servers: their packages run one after the other.
	Serial   bool
	Short    []string   // packages of other parts whose tests it runs too, in short and under the race detector
	Env      []string   // variables that its tests read, as NAME=value
	Commands [][]string // programs with their arguments
}

// A Row gives the tests of packages to a part.
type Row struct {
	Part string
	// Packages is a path in the module, such as "drivers/etcd", or one with "/..." for it and all packages below it.
	// A package belongs to the row with its own path, or else to that with the longest path above it.
	Packages string
	// Tests is a regular expression for go test -run. Rows of the same packages without it have the rest.
	Tests string
	Raced bool // the tests run under the race detector
}

// All returns the parts in the order in which make check runs them.
func All() []Part {
	return []Part{
		{Name: "race", What: "concurrent packages, and the recipes' suite in short, under the race detector",
			Short: []string{"workloads/recipetest"}},
		{Name: "observe", What: "what observe sees and says: proxies, captures, decoders, forms that run, and recoveries", Serial: true},
		{Name: "native", What: "the native server, its logs on simulated disks, and its replication in simulation with planted bugs", Serial: true},
		{Name: "zookeeper", What: "the clients of Apache ZooKeeper on real servers, and what starts servers for runs", Serial: true},
		{Name: "etcd", What: "the driver of etcd on real members", Serial: true},
		{Name: "ensemble", What: "ensembles of real members that are killed, stopped, parted, and short of disk", Serial: true},
		{Name: "clients", What: "programs in other languages and on other libraries, through observe and on the native server", Serial: true},
		{Name: "recipes", What: "every form of every recipe on every backend by its suite, and mutants under faults", Serial: true},
		{Name: "costs", What: "what every form costs on every backend, counted exactly, and its behaviour under many schedules", Serial: true},
		{Name: "faults", What: "all forms on ensembles under two schedules of faults, and beside holders that sleep", Serial: true,
			Env: []string{"SEEDS=2", "RECIPES=all"}},
		{Name: "agents", What: "runs of several processes, in every family of forms and every shape of a run", Serial: true},
		{Name: "losses", What: "agents that are lost, killed, stalled and starved, on hosts apart, and agents of the command", Serial: true},
		{Name: "command", What: "the command: its scripts, signals, servers and pages", Serial: true},
		{Name: "docs", What: "every command of the documentation, as it is printed", Serial: true},
		{Name: "pages", What: "pages of the documentation that are written from the program, and the figures on them", Serial: true},
		{Name: "browser", What: "reports and the live page in Chromium, dashboards in Prometheus", Serial: true},
		{Name: "statistics", What: "decisions on simulated machines, and all else of results"},
		{Name: "fuzz", What: "each fuzzer for some seconds", Commands: [][]string{
			{"make", "fuzz", "FUZZTIME=10s", "FUZZED=./drivers/wire ./drivers/server ./drivers/lean"},
			{"make", "fuzz", "FUZZTIME=5s", "FUZZED=./drivers/etcd ./drivers/traffic ./metrics/observe ./drivers/cluster/faults ./results/gate ./workloads/scenario ./results"},
		}},
		{Name: "gate", What: "each benchmark once, and the gate of this project on itself", Commands: [][]string{
			{"make", "bench-once"},
			{"make", "gate"},
		}},
	}
}

// Rows returns which part has which tests.
func Rows() []Row {
	return []Row{
		{Part: "race", Packages: "drivers/...", Raced: true},
		{Part: "race", Packages: "metrics/...", Raced: true},
		{Part: "race", Packages: "workloads/...", Raced: true},
		{Part: "statistics", Packages: "metrics", Tests: "^Test(Outages|FaultsThatDoNothing)"},
		{Part: "race", Packages: "metrics", Raced: true},

		{Part: "observe", Packages: "drivers/traffic/...", Raced: true},
		{Part: "observe", Packages: "metrics/observe", Raced: true},
		{Part: "observe", Packages: "metrics/pattern", Raced: true},
		{Part: "observe", Packages: "metrics/recovery", Raced: true},
		{Part: "observe", Packages: "metrics/delivery/...", Raced: true},

		{Part: "native", Packages: "drivers/server/...", Raced: true},
		{Part: "native", Packages: "drivers/server/raftlog"},
		{Part: "native", Packages: "drivers/server/replica"},
		{Part: "native", Packages: "drivers/server/wal"},
		{Part: "clients", Packages: "drivers/server", Tests: "Kazoo|Curator|Shell"},
		{Part: "native", Packages: "drivers/server", Raced: true},

		{Part: "zookeeper", Packages: "drivers/zookeeper", Raced: true},
		{Part: "zookeeper", Packages: "drivers/backends/...", Raced: true},
		{Part: "etcd", Packages: "drivers/etcd/...", Raced: true},
		{Part: "ensemble", Packages: "drivers/cluster/...", Raced: true},
		{Part: "race", Packages: "drivers/cluster/partition", Raced: true},
		{Part: "clients", Packages: "examples/..."},

		{Part: "recipes", Packages: "workloads/recipetest"},
		{Part: "faults", Packages: "workloads/catalog", Tests: "OnEnsembles|Isolated|SleepingHolder"},
		{Part: "costs", Packages: "workloads/catalog"},
		{Part: "agents", Packages: "workloads/agents", Tests: "^Test(OneRunOfSeveralAgents|RunsOfAgentsInOtherShapes)$", Raced: true},
		{Part: "losses", Packages: "workloads/agents", Raced: true},
		{Part: "agents", Packages: "workloads/agents/control", Raced: true},

		{Part: "losses", Packages: "cmd/stampede", Tests: "Agent|Coordinator"},
		{Part: "docs", Packages: "cmd/stampede", Tests: "^TestDocumentedCommands$"},
		{Part: "pages", Packages: "cmd/stampede", Tests: "^TestDocumentation$"},
		{Part: "browser", Packages: "cmd/stampede", Tests: "^TestLivePage"},
		{Part: "ensemble", Packages: "cmd/stampede", Tests: "Ensemble|Paper|Kills|Unheard|EachOther"},
		{Part: "command", Packages: "cmd/stampede"},
		{Part: "command", Packages: "cmd/..."},

		{Part: "browser", Packages: "dashboards/..."},
		{Part: "browser", Packages: "results/render"},
		{Part: "statistics", Packages: "results/..."},
		{Part: "statistics", Packages: "workloads/check"},
		{Part: "statistics", Packages: "workloads/sweeps"},
		{Part: "command", Packages: "internal/..."},
		{Part: "command", Packages: "docker"},
		{Part: "command", Packages: "docs"},
		{Part: "recipes", Packages: "recipes"},
	}
}

// RowOf returns the row that has a test of a package, which is named by its path in the module.
func RowOf(pkg, test string) (row Row, found bool) {
	for _, r := range rowsOf(pkg) {
		if r.has(test) {
			return r, true
		}
	}
	return Row{}, false
}

// rowsOf returns the rows of a package, those without Tests at the end.
func rowsOf(pkg string) (rows []Row) {
	nearest := 0
	for _, r := range Rows() {
		near := r.fits(pkg)
		if near > nearest {
			nearest, rows = near, nil
		}
		if near > 0 && near == nearest {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Tests, a.Tests) }) // "" is the least
	return rows
}

// fits returns 0 if the row's path does not fit a package, and else more the nearer it is.
func (r Row) fits(pkg string) int {
	below, all := strings.CutSuffix(r.Packages, "/...")
	switch {
	case pkg == r.Packages:
		return len(pkg) + 2
	case all && pkg == below:
		return len(pkg) + 1
	case all && strings.HasPrefix(pkg, below) && pkg[len(below)] == '/':
		return len(below) + 1
	}
	return 0
}

func (r Row) has(test string) bool {
	return r.Tests == "" || regexp.MustCompile(r.Tests).MatchString(test)
}

// Calls returns the arguments of go test by which a part runs its tests, given the paths of all packages that have
// some. The race detector is used only if there is one.
func (p Part) Calls(packages []string, detector bool) (calls [][]string) {
	whole := map[bool][]string{} // packages of which the part has all tests, by whether they are raced
	var cut [][]string
	for _, pkg := range packages {
		rows := rowsOf(pkg)
		var others []string
		for _, r := range rows {
			raced := r.Raced && detector
			switch {
			case r.Part != p.Name:
			case r.Tests != "":
				cut = append(cut, append(p.flags(raced), "-run="+r.Tests, "./"+pkg))
			case len(others) > 0:
				cut = append(cut, append(p.flags(raced), "-skip="+strings.Join(others, "|"), "./"+pkg))
			default:
				whole[raced] = append(whole[raced], "./"+pkg)
			}
			if r.Tests != "" {
				others = append(others, r.Tests)
			}
		}
	}
	for _, raced := range []bool{true, false} {
		if len(whole[raced]) > 0 {
			calls = append(calls, append(p.flags(raced), whole[raced]...))
		}
	}
	calls = append(calls, cut...)
	if detector && len(p.Short) > 0 {
		call := append(p.flags(true), "-short")
		for _, pkg := range p.Short {
			call = append(call, "./"+pkg)
		}
		calls = append(calls, call)
	}
	return calls
}

// flags returns the flags of go test. A package that hangs prints its stacks within the ten minutes of a part.
func (p Part) flags(raced bool) (flags []string) {
	flags = []string{"-count=1", "-timeout=9m"}
	if p.Serial {
		flags = append(flags, "-p=1")
	}
	if raced {
		flags = append(flags, "-race")
	}
	return flags
}

// Named returns the parts with the names, or all if none is named.
func Named(names []string) (named []Part, err error) {
	if len(names) == 0 {
		return All(), nil
	}
	for _, name := range names {
		i := slices.IndexFunc(All(), func(p Part) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no part of the check is called %q: want one of %s", name, strings.Join(Names(), ", "))
		}
		named = append(named, All()[i])
	}
	return named, nil
}

// Names returns the names of all parts.
func Names() (names []string) {
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}
