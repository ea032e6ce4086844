package imports

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// An exception may be unsteady in go test -short, because no time and no chance decides there.
type exception struct{ where, why string }

// permitted is the number of exceptions. Lower it when one goes; none is added.
const permitted = 29

var exceptions = []exception{
	// What the smoke of the real parts needs.
	{"cmd/stampede.endsOn", "the signal comes after the server has said that it serves; its end is awaited"},
	{"cmd/stampede/testdata/script/smoke.txtar", "one run on each kind of service, which it starts; its rounds are counted"},
	{"drivers/backends/backendtest.launched.await", "asks until the server answers, with a limit that only a defect reaches"},
	{"drivers/backends/backendtest.serves", "a question without an answer is asked again"},
	{"drivers/etcd.started", "starts the one etcd where the test run shares none"},
	{"drivers/zookeeper.apache", "starts the one ZooKeeper where the test run shares none"},
	{"workloads/catalog.TestFormsCostWhatTheModelSays", "exact counts on one server of each kind of its own, whose counters they must match"},

	// They wait until an event.
	{"internal/await.True", "polls until an event, with a limit that only a defect reaches"},
	{"workloads/recipe.fake.Take", "polls until there is an item"},

	// They wait for what comes in any case, however late.
	{"cmd/stampede.typeIn", "kills what only a defect keeps"},
	{"drivers/backends.TestUnreachableServiceIsNamed", "nobody listens, however long it tries"},
	{"drivers/cluster/reexec.endsOn", "the signal comes after the child has told its address; its end is awaited"},
	{"drivers/drivertest.soon", "the call is not answered before the deadline has passed"},
	{"drivers/traffic/proxy.TestSlowReader", "nothing is read before the deadline has passed"},

	// The order of moments decides, not the time between them.
	{"metrics/observe.observeRun", "the window lasts until enough rounds have ended"},
	{"workloads/agents.planOf", "the window lasts until enough rounds have ended"},
	{"workloads/recipetest.pause", "shuffles steps, whose order no case depends on"},

	// They run in bubbles, which their name does not show.
	{"drivers/drivertest.fake.pause", "only slow fakes and those with bugs pause, in bubbles"},
	{"workloads/load.fanoutPlan", "the plan is run in bubbles"},
	{"workloads/recipetest.cleaningUp", "mutants are run in bubbles"},
	{"workloads/recipetest.holderExpires", "short runs suites in bubbles only"},
	{"workloads/runtest.LockPlan", "the plan is run in bubbles, or by rounds"},
	{"workloads/runtest.MixPlan", "the plan is run in bubbles, or one step at a time"},

	// They do nothing of the kind in short.
	{"examples/observe.TestWorkersTakeTurns", "the example itself, skipped outside of stampede observe"},
	{"metrics/delivery/misdelivery.newWatcher", "a server of its own, of one member, whose notifications pass a relay"},
	{"metrics/delivery/misdelivery.watcher.outage", "kills members of ensembles, which short leaves out"},
	{"workloads/catalog.TestSystemsCostWhatTheModelSays", "short leaves out all but the native server in this process"},

	{"cmd/stampede.TestSearchMakesRunsLongEnough", "a fake measures the runs"},
	{"cmd/stampede.script", "a script of this repository runs in bash, and nothing in it waits"},
}

// TestShortDependsOnNoTimeAndNoChance holds what go test -short means: see CONTRIBUTING.md.
func TestShortDependsOnNoTimeAndNoChance(t *testing.T) {
	for _, problem := range problems(t, os.DirFS("../.."), exceptions) {
		t.Error(problem)
	}
	if len(exceptions) != permitted {
		t.Errorf("%d exceptions, want %d: the list may only become shorter, and the number with it", len(exceptions), permitted)
	}
}

// problems compares what is unsteady with the exceptions.
func problems(t *testing.T, root fs.FS, exceptions []exception) (found []string) {
	t.Helper()
	uses, err := unsteady(root)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := unsteadyScripts(root)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(uses, scripts)
	for _, e := range exceptions {
		if uses[e.where] == nil {
			found = append(found, e.where+": the exception is not needed: remove it")
		}
		delete(uses, e.where)
	}
	for _, where := range slices.Sorted(maps.Keys(uses)) {
		found = append(found, where+": "+strings.Join(uses[where], ", ")+
			": go test -short depends on it: wait for an event (internal/await), use a bubble or a seed, or begin with testenv.SkipIfShort(t)")
	}
	return found
}

// The rule finds what is unsteady where a test reaches it, and nothing else; and exceptions that nothing needs.
func TestUnsteadyTestsAreFound(t *testing.T) {
	const imports = "package p\n\nimport (\n\t\"context\"\n\t\"math/rand/v2\"\n\t\"os/exec\"\n\t\"testing\"\n\t\"time\"\n\n\t\"" +
		module + "internal/bubble\"\n\t\"" + module + "internal/testenv\"\n\t\"" + module + "support\"\n)\n\n"
	root := fstest.MapFS{
		"p/limits.go": {Data: []byte("package p\n\nimport \"time\"\n\nconst patience, brief = 2 * time.Minute, 2 * time.Second\n")},
		// What the product does is not looked at.
		"product/product.go": {Data: []byte("package product\n\nimport \"time\"\n\nfunc Wait() { time.Sleep(1) }\n")},
		"support/support.go": {Data: []byte("package support\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc Wait() { time.Sleep(1) }\nfunc Unused() { time.Sleep(1) }\n\n" +
			"type Relay struct{}\n\nfunc (Relay) Read() { time.Sleep(1) }\n")},
		"p/p_test.go": {Data: []byte(imports + `
func TestSleeps(t *testing.T)     { time.Sleep(1) }
func TestCalls(t *testing.T)      { helper(); support.Wait() }
func TestMakesARelay(t *testing.T) { use(&support.Relay{}) }
func TestLimits(t *testing.T) {
	context.WithTimeout(t.Context(), patience)
	context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	<-time.After(time.Minute)
}
func TestIsBrief(t *testing.T)    { context.WithTimeout(t.Context(), brief) }
func TestDraws(t *testing.T)      { rand.New(rand.NewPCG(1, 2)).IntN(5) }
func TestDrawsAny(t *testing.T)   { rand.IntN(5) }
func TestRunsPrograms(t *testing.T) {
	exec.Command("go", "version")
	t.Run("git", func(t *testing.T) { exec.Command("git") })
}
func TestCompares(t *testing.T) {
	began := time.Now()
	t.Logf("%v", time.Since(began))
	if time.Since(began) > time.Hour {
		t.Fail()
	}
}
func TestSkips(t *testing.T) {
	testenv.SkipIfShort(t)
	onlyLong()
}
func TestSkipsByAHelper(t *testing.T) {
	skipping(t)
	onlyLong()
}
func TestSkipsTooLate(t *testing.T) {
	time.Sleep(1)
	testenv.SkipIfShort(t)
}
func TestSkipsAPart(t *testing.T) {
	for range 2 {
		testenv.SkipIfShort(t)
		onlyLong()
	}
}
func TestBubble(t *testing.T)   { bubble.Test(t, func(t *testing.T) { inBubbles() }) }
func TestWrapper(t *testing.T)  { wrapper(t, func() { inBubbles() }) }
func TestNames(t *testing.T)    { onlyLong := 1; use(onlyLong) }
func BenchmarkSleep(*testing.B) { time.Sleep(1) }
func FuzzSleep(*testing.F)      { time.Sleep(1) }
func Example()                  { time.Sleep(1) }

func helper()                          { time.Sleep(1) }
func onlyLong()                        { time.Sleep(1) }
func inBubbles()                       { time.Sleep(1) }
func skipping(t *testing.T)            { testenv.SkipIfShort(t); onlyLong() }
func wrapper(t *testing.T, run func()) { bubble.Test(t, func(*testing.T) { run() }) }
func use(any)                          {}
`)},
		"cmd/stampede/testdata/script/short.txtar": {Data: []byte("exec stampede run --rounds 5 --warmup 0\nexits 2 stampede run --duration 1s\n[short] stop\nsleep 5\n")},
		"cmd/stampede/testdata/script/long.txtar":  {Data: []byte("exec stampede run --duration 20ms\n\n-- file --\nexec stampede run --duration 1s\n")},
	}
	found := problems(t, root, []exception{{"p.helper", "needed"}, {"p.onlyLong", "not needed"}})
	for i, problem := range found {
		where, what, _ := strings.Cut(problem, ": ")
		what, _, _ = strings.Cut(what, " (")
		found[i] = where + ": " + what
	}
	want := []string{
		"p.onlyLong: the exception is not needed: remove it",
		"cmd/stampede/testdata/script/long.txtar: --duration 20ms",
		"p.TestCompares: time.Since", "p.TestDrawsAny: rand.IntN", "p.TestIsBrief: context.WithTimeout", "p.TestRunsPrograms: exec.Command",
		"p.TestSkipsTooLate: time.Sleep", "p.TestSleeps: time.Sleep", "support.Relay.Read: time.Sleep", "support.Wait: time.Sleep",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +found):\n%s", diff)
	}
}
