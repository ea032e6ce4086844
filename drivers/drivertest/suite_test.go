package drivertest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestPass shows that the suites pass on a service that keeps the contract.
func TestPass(t *testing.T) {
	RunBubbled(t, func(*testing.T) drivers.Service { return newSlowFake(none) })
	RunOrderedBubbled(t, func(*testing.T) drivers.Service { return newSlowFake(none) })
	RunPersistentBubbled(t, func(*testing.T) drivers.Service { return newSlowFake(none) })
}

// TestPassShared shows the same with one service for all cases, in real time.
func TestPassShared(t *testing.T) {
	right := func(*testing.T) drivers.Service { return newFake(none) }
	Run(t, right)
	RunOrdered(t, right)
	RunPersistent(t, right)
}

// TestUnsupported shows that an unsupported case is skipped, and that one that does not exist fails
// the test.
func TestUnsupported(t *testing.T) {
	cases := 0
	for _, s := range skipUnsupported(t, ordered(), []string{EventsBeforeReconnected}) {
		for _, c := range s.cases {
			ran := t.Run(c.name, func(t *testing.T) {
				t.Cleanup(func() {
					if got, want := t.Skipped(), c.name == EventsBeforeReconnected; got != want {
						t.Errorf("skipped %v, want %v", got, want)
					}
				})
				if c.name == EventsBeforeReconnected {
					c.run(t.Context(), &trial{TB: t})
				}
			})
			if ran {
				cases++
			}
		}
	}
	if cases != len(ordered()[0].cases) {
		t.Errorf("%d cases, want all of %d", cases, len(ordered()[0].cases))
	}
	f := &fatal{TB: t}
	skipUnsupported(f, ordered(), []string{EventsBeforeReconnected, "no such case"})
	if want := `unsupported cases ["no such case"]: no such cases`; f.text != want {
		t.Errorf("failed with %q, want %q", f.text, want)
	}
}

// fatal records a fatal failure.
type fatal struct {
	testing.TB
	text string
}

func (f *fatal) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

// TestFail shows that each bug is found by the cases that must find it.
func TestFail(t *testing.T) {
	cases := allCases()
	for b, names := range mutants {
		for _, name := range names {
			t.Run(string(b)+"/"+name, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					c, ok := cases[name]
					if !ok {
						t.Fatal("there is no such case")
					}
					r := &recorder{TB: t}
					r.try(c, opened(t, func(*testing.T) drivers.Service { return newSlowFake(b) }))
					r.failedRightly(t, c)
				})
			})
		}
	}
}

// TestEveryCaseCanFail shows that there is a bug for every case.
func TestEveryCaseCanFail(t *testing.T) {
	unproved := allCases()
	for _, names := range mutants {
		for _, name := range names {
			delete(unproved, name)
		}
	}
	for name := range unproved {
		t.Errorf("%s: no mutant shows that it can fail", name)
	}
}

func allCases() map[string]testCase {
	all := map[string]testCase{}
	for _, s := range slices.Concat(portable(), ordered(), lasting()) {
		for _, c := range s.cases {
			all[s.name+"/"+c.name] = c
		}
	}
	return all
}

// A recorder is the testing.TB that a case fails instead of the test.
type recorder struct {
	testing.TB

	mu     sync.Mutex
	failed bool
	errors []string
	logs   []string
}

// try runs the case to its end, which may be a runtime.Goexit.
func (r *recorder) try(c testCase, service drivers.Service) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.check(r, service)
	}()
	<-over
}

// failedRightly checks that the case failed by itself, not only because the bug hindered
// the clean-up, and that it said what the contract promises.
func (r *recorder) failedRightly(t *testing.T, c testCase) {
	cleanUp := regexp.MustCompile(`^(closing a session|syncing before|removing the case's|closing the session that)`)
	if !slices.ContainsFunc(r.errors, func(e string) bool { return !cleanUp.MatchString(e) }) {
		t.Errorf("the case does not find the bug; errors %q", r.errors)
	}
	if last := len(r.logs) - 1; last < 0 || !strings.Contains(r.logs[last], c.why) {
		t.Errorf("the case does not explain itself last; logged %q", r.logs)
	}
}

func (r *recorder) Helper() {}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.errors = append(r.errors, fmt.Sprint(args...))
}

func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
