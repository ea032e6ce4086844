package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// reportOf reads the events of go test in testdata.
func reportOf(t *testing.T, events string) (*report, *strings.Builder) {
	t.Helper()
	page := new(strings.Builder)
	r := newReport(page)
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	return r, page
}

// Of the failed tests those are run again that did not race, in packages whose other tests were run too.
func TestOnlyFailedTestsAreRunAgain(t *testing.T) {
	const (
		failed = `{"Action":"fail","Package":"github.com/stampede-bench/stampede/a","Test":`
		pkg    = `{"Action":"output","Package":"github.com/stampede-bench/stampede/a","Test":`
		ends   = `{"Action":"output","Package":"github.com/stampede-bench/stampede/a",`
	)
	for _, c := range []struct {
		name, events string
		want         []string
	}{
		{"a subtest and its parent", failed + `"TestA/one"}` + "\n" + failed + `"TestA"}`, []string{"TestA"}},
		{"a data race", pkg + `"TestA","Output":"WARNING: DATA RACE\n"}` + "\n" + failed + `"TestA"}`, nil},
		{"a race that the detector told of elsewhere", pkg + `"TestA","Output":"    testing.go:1: race detected during execution of test\n"}` + "\n" + failed + `"TestA"}`, nil},
		{"a package with all its tests run", failed + `"TestA"}` + "\n" + ends + `"Output":"FAIL\n"}` + "\n" + `{"Action":"fail","Package":"github.com/stampede-bench/stampede/a"}`, []string{"TestA"}},
		{"a panic", pkg + `"TestA","Output":"panic: boom\n"}` + "\n" + failed + `"TestA"}` + "\n" + ends + `"Output":"FAIL\ta\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"github.com/stampede-bench/stampede/a"}`, nil},
		{"an exit after a failed test", failed + `"TestA"}` + "\n" + ends + `"Output":"exit status 3\n"}` + "\n" + `{"Action":"fail","Package":"github.com/stampede-bench/stampede/a"}`, nil},
	} {
		r, _ := reportOf(t, c.events+"\n")
		var got []string
		for _, f := range repeatable(r.failures) {
			got = append(got, f.test)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A race in a library alone may have nothing to do with the test.
func TestARaceOfALibraryIsItsOwn(t *testing.T) {
	const library, ours, own = "  github.com/go-zookeeper/zk.(*Conn).recvLoop()\n", "  github.com/stampede-bench/stampede/drivers/lean.(*Conn).read()\n", "  runtime.mapassign()\n"
	for _, c := range []struct {
		write, read string
		want        bool
	}{{library, library, false}, {library, ours, true}, {ours, library, true}, {own, own, true}} {
		output := []string{"WARNING: DATA RACE\n", "Write at 0x00c0008ba480 by goroutine 34115:\n", c.write, "      /a/conn.go:849 +0x68c\n",
			"Previous read at 0x00c0008ba480 by goroutine 34090:\n", c.read, "    testing.go:1712: race detected during execution of test\n"}
		if got := raced(output); got != c.want {
			t.Errorf("%s and %s: %t, want %t", c.write, c.read, got, c.want)
		}
	}
}

// A test whose time is over says where it hangs, though it has no end of its own.
func TestAHangIsShown(t *testing.T) {
	const events = `{"Action":"output","Package":"a","Test":"TestHangs","Output":"    a_test.go:7: 52 hand-offs\n"}
{"Action":"output","Package":"a","Test":"TestHangs","Output":"panic: test timed out after 5m0s\n"}
{"Action":"output","Package":"a","Test":"TestHangs","Output":"goroutine 7 [select (no cases)]:\n"}
{"Action":"output","Package":"a","Output":"FAIL\ta\t300.0s\n"}
{"Action":"fail","Package":"a","Elapsed":300}
`
	r, page := reportOf(t, events)
	if !strings.Contains(page.String(), "goroutine 7 [select (no cases)]:\n") {
		t.Errorf("no stack is shown:\n%s", page)
	}
	if len(r.failures) != 1 || r.failures[0].String() != "a: panic: test timed out after 5m0s" || len(repeatable(r.failures)) > 0 {
		t.Errorf("failures %v", r.failures)
	}
}

// Many failures have a cause in the code, and so none of them is run again.
func TestManyFailuresAreNotRunAgain(t *testing.T) {
	var events strings.Builder
	for i := range mostAgain + 1 {
		events.WriteString(`{"Action":"fail","Package":"a","Test":"Test` + strings.Repeat("A", i+1) + `"}` + "\n")
	}
	if r, _ := reportOf(t, events.String()); len(repeatable(r.failures)) > 0 {
		t.Errorf("%d tests are run again", len(repeatable(r.failures)))
	}
}

func TestATestIsRunAloneWithTheFlagsOfTheRun(t *testing.T) {
	f := failure{pkg: "github.com/stampede-bench/stampede/a", test: "TestA"}
	got := f.command([]string{"-short", "-timeout=5m", "./...", "./b"})
	want := []string{"-short", "-timeout=5m", "-count=1", "-p=1", "-parallel=1", "-run=^TestA$", "github.com/stampede-bench/stampede/a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A test that passed alone counts as passed and is named. The others stay failed.
func TestReportOfFlakyTests(t *testing.T) {
	events, err := os.ReadFile("testdata/events.json")
	if err != nil {
		t.Fatal(err)
	}
	r, page := reportOf(t, string(events))
	passed, failed := r.passed, r.failed
	for _, f := range repeatable(r.failures) {
		r.passedAlone(f)
	}
	r.finish(75 * time.Second)
	for _, line := range []string{"FLAKY bad TestBad: it failed beside other tests, and passed alone\n", "\n1 FLAKY: see above\n"} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("the report has no %q:\n%s", line, page)
		}
	}
	// TestBad and its subtest passed; the packages that did not compile and that ended early have still failed.
	if r.passed != passed+2 || r.failed != failed-2 || r.failed != 2 {
		t.Errorf("%d passed, %d failed; before %d, %d", r.passed, r.failed, passed, failed)
	}
}

// A script's log comes before the command that failed.
func TestAFailureIsNamedByWhatWasWrong(t *testing.T) {
	for _, c := range []struct {
		output []string
		want   string
	}{
		{[]string{"=== RUN   TestA\n", "    a_test.go:7: got 3, want 4\n", "    a_test.go:8: later\n", "--- FAIL: TestA (0.00s)\n"}, "got 3, want 4"},
		{[]string{"    testscript.go:609: WORK=$WORK\n", "        HOME=/no-home\n", "        FAIL: testdata/a.txtar:9: unexpected command failure\n", "--- FAIL: TestA/a (0.10s)\n"},
			"testdata/a.txtar:9: unexpected command failure"},
	} {
		if got := first(c.output); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
