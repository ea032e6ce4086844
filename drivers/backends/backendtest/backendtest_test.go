package backendtest

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestMain(m *testing.M) { Main(m) }

func TestEach(t *testing.T) {
	var started []string
	Each(t, func(t *testing.T, s drivers.Service) {
		c, err := s.Dial(t.Context(), drivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, found, err := c.Exists(t.Context(), "/", nil); err != nil || !found {
			t.Errorf("the root: %t, %v; want to see it", found, err)
		}
		started = append(started, s.Info().Name+" "+s.Info().Started)
	})
	if len(started) < 2 || started[0] != "native in process" || started[1] != "native own process" {
		t.Errorf("ran on %q, want at least native in process and in a process of its own", started)
	}
}

func TestSharedIsStartedOnce(t *testing.T) {
	if Shared(t, "native:") != Shared(t, "native:") {
		t.Error("two services, want one")
	}
}

// A fakeTest records how it ended.
type fakeTest struct {
	testing.TB
	end string
}

func (f *fakeTest) Helper() {}

func (f *fakeTest) Skip(args ...any) {
	f.end = "skipped: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *fakeTest) Fatalf(format string, args ...any) {
	f.end = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestLacking(t *testing.T) {
	for require, want := range map[string]string{
		"":    "skipped: nothing here",
		"all": "failed: REQUIRE_BACKENDS=all, but nothing here",
	} {
		t.Setenv("REQUIRE_BACKENDS", require)
		f := &fakeTest{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Lacking(f, errors.New("nothing here"))
		}()
		<-done
		if f.end != want {
			t.Errorf("REQUIRE_BACKENDS=%q: %s, want %s", require, f.end, want)
		}
	}
}
