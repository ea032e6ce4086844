package observe

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// turns of each client in the programs.
const recipeTurns = 3

// A found is what a recipe must be recognised as with n clients, and how many notifications and
// changes there must be.
type found struct {
	names func(n int) []string
	herd  func(n int) bool // nil: as most notifications were wasted or not
	check func(t *testing.T, n int64, o observation)
}

// An observation is what the test reads of stampede's JSON.
type observation struct {
	Observed struct {
		Traffic struct {
			Notifications int64
			Reads         int64
			Writes        int64
			FailedWrites  int64 `json:"failed_writes"`
			Changes       int64
			FanoutMax     int64 `json:"fanout_max"`
		}
		Places []struct {
			Form *struct {
				Name string
				Herd bool
			}
			Notifications  int64
			FanoutMax      int64 `json:"fanout_max"`
			Useful, Wasted *int64
		}
		Operations []struct {
			Name     string
			Requests int64
		}
	}
}

func (o observation) operations(name string) int64 {
	for _, op := range o.Observed.Operations {
		if op.Name == name {
			return op.Requests
		}
	}
	return 0
}

func always(name string) func(int) []string { return func(int) []string { return []string{name} } }
func never(int) bool                        { return false }

// inLine is a recipe whose clients wait in line: each release but the last wakes one.
var inLine = found{
	names: func(n int) []string {
		if n == 2 {
			return []string{"lock or election, predecessor or leader"}
		}
		return []string{"lock or election, predecessor"}
	},
	herd: never,
	check: func(t *testing.T, n int64, o observation) {
		c := o.Observed.Traffic
		if want := n*recipeTurns - 1; c.Notifications != want || c.Changes != want || c.FanoutMax != 1 {
			t.Errorf("%d notifications of %d changes, at most %d each; want %d of %[4]d, 1", c.Notifications, c.Changes, c.FanoutMax, want)
		}
	},
}

var aBarrier = found{always("barrier, watch"), never, func(t *testing.T, n int64, o observation) {
	c := o.Observed.Traffic
	if c.Notifications != n-1 || c.Changes != 1 || c.FanoutMax != n-1 {
		t.Errorf("%d notifications of %d changes, at most %d each; want %d of 1", c.Notifications, c.Changes, c.FanoutMax, n-1)
	}
}}

// aDoubleBarrier wakes all clients that wait for the last, and when they leave all that wait for one
// node. A client that is late waits for nothing.
var aDoubleBarrier = found{always("double barrier, ready node"), never, func(t *testing.T, n int64, o observation) {
	if c := o.Observed.Traffic; c.FanoutMax < 1 || c.FanoutMax > n || c.Notifications < 1 || c.Notifications > 3*n {
		t.Errorf("%d notifications, at most %d of a change; want at most %d and %d", c.Notifications, c.FanoutMax, 3*n, n)
	}
}}

// aReadWriteLock is one whose readers all watch the lowest writer.
var aReadWriteLock = found{
	names: func(n int) []string {
		if n == 2 {
			return []string{"shared lock, nearest or lowest writer"}
		}
		return []string{"shared lock, lowest writer"}
	},
	herd: nil, // about half of the readers that are woken wait again
	check: func(t *testing.T, n int64, o observation) {
		if c := o.Observed.Traffic; c.FanoutMax > n-1 || n > 2 && c.FanoutMax < 2 {
			t.Errorf("a change sent at most %d notifications; want one, or several with more than two clients", c.FanoutMax)
		}
	},
}

// aQueue returns a queue whose clients each call an operation that number of times.
func aQueue(operation string, times int64, names ...string) found {
	return found{func(int) []string { return names }, nil, func(t *testing.T, n int64, o observation) {
		if got := o.operations(operation); got != n*times {
			t.Errorf("%d times %s, want %d", got, operation, n*times)
		}
		if c := o.Observed.Traffic; c.FanoutMax < 1 || c.FanoutMax > 2*n { // a consumer may watch two lists
			t.Errorf("a change sent at most %d notifications, want 1 to %d", c.FanoutMax, 2*n)
		}
	}}
}

var kazooRecipes = map[string]found{
	"lock": inLine, "election": inLine, "barrier": aBarrier, "double-barrier": aDoubleBarrier,
	"queue": aQueue("multi", recipeTurns, "queue, items locked by consumers"),
}

// aSelector is inLine of a client that stands in line again after each turn. On a busy machine two of them have been seen
// as three in line, which shows that they watch the node ahead and not the first.
var aSelector = found{
	names: func(n int) []string { return append(inLine.names(n), "lock or election, predecessor") },
	herd:  inLine.herd, check: inLine.check,
}

// curatorRecipes are Curator's. Each client of the queue also creates the queue itself.
var curatorRecipes = map[string]found{
	"mutex": inLine, "latch": inLine, "selector": aSelector, "barrier": aBarrier, "double-barrier": aDoubleBarrier,
	"read-write-lock": aReadWriteLock,
	"queue":           aQueue("create", recipeTurns+1, "queue, all consumers watch", "queue, cached list"),
}

// TestLibrariesAreRecognised uses the recipes of kazoo and of Curator through stampede observe, each
// by 2 and by 8 clients.
func TestLibrariesAreRecognised(t *testing.T) {
	testenv.SkipIfShort(t)
	stampede := filepath.Join(t.TempDir(), "stampede")
	build(t, "build", "-o", stampede, "../../cmd/stampede")
	t.Run("kazoo", func(t *testing.T) {
		recognises(t, kazooRecipes, stampede, backendtest.Python(t, "kazoo", "python3-kazoo"), "kazoo_recipes.py")
	})
	t.Run("Curator", func(t *testing.T) {
		recognises(t, curatorRecipes, stampede, curatorProgram(t)...)
	})
}

// curatorProgram compiles CuratorRecipes.java and returns the command that runs it.
func curatorProgram(t *testing.T) []string {
	t.Helper()
	java, classpath := backendtest.Curator(t)
	classes := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-cp", classpath, "-d", classes, "CuratorRecipes.java").CombinedOutput(); err != nil {
		t.Fatalf("compile CuratorRecipes.java: %v\n%s", err, out)
	}
	return []string{java, "-XX:-UsePerfData", "-cp", classes + string(filepath.ListSeparator) + classpath, "CuratorRecipes"}
}

func recognises(t *testing.T, recipes map[string]found, stampede string, command ...string) {
	t.Helper()
	for recipe, want := range recipes {
		for _, n := range []int{2, 8} {
			t.Run(fmt.Sprint(recipe, "/", n), func(t *testing.T) {
				o := observed(t, stampede, append(slices.Clone(command), recipe, fmt.Sprint(n)))
				isRecognised(t, want, n, o)
				want.check(t, int64(n), o)
			})
		}
	}
}

// isRecognised checks that each watched place is recognised.
func isRecognised(t *testing.T, want found, n int, o observation) {
	t.Helper()
	var notifications int64
	for _, p := range o.Observed.Places {
		if p.Notifications == 0 {
			continue
		}
		notifications += p.Notifications
		herd := p.FanoutMax > 1 && p.Wasted != nil && *p.Wasted > *p.Useful
		if want.herd != nil {
			herd = want.herd(n)
		}
		if p.Form == nil || !slices.Contains(want.names(n), p.Form.Name) || p.Form.Herd != herd {
			t.Errorf("recognised as %+v, want one of %q, herd %t", p.Form, want.names(n), herd)
		}
	}
	if notifications == 0 || notifications != o.Observed.Traffic.Notifications {
		t.Errorf("the places have %d notifications, all traffic %d; want the same, and some", notifications, o.Observed.Traffic.Notifications)
	}
}

// observed runs the command by stampede observe, with the flags.
func observed(t *testing.T, stampede string, command []string, flags ...string) (o observation) {
	t.Helper()
	result := filepath.Join(t.TempDir(), "observation.json")
	arguments := slices.Concat([]string{"observe", "--no-save", "-o", "json=" + result, "--env", "ZK_CONNECT={address}"}, flags, []string{"--"}, command)
	if out, err := exec.CommandContext(t.Context(), stampede, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("stampede observe: %v\n%s", err, out)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}
