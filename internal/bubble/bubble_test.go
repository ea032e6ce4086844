package bubble

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"testing"
	"time"
)

// This pattern crashed the race detector: several goroutines receive at the same time from
// expired timers.
func TestTimersThatHaveRunOut(t *testing.T) {
	Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				for range 100 {
					timer := time.NewTimer(time.Nanosecond)
					time.Sleep(time.Millisecond)
					<-timer.C
				}
			})
		}
		all.Wait()
	})
}

func TestOneProcessor(t *testing.T) {
	all := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(all)
	expect := func(t *testing.T, want int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%d processors, want %d", got, want)
		}
	}
	t.Run("two that overlap", func(t *testing.T) {
		second := make(chan struct{})
		for range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				processors.take()
				defer processors.giveBack()
				select {
				case second <- struct{}{}:
				case <-second:
				}
				expect(t, 1)
			})
		}
	})
	expect(t, 3)
	Test(t, func(t *testing.T) { expect(t, 1) })
	expect(t, 3)
}

func TestNobodyMakesOtherBubbles(t *testing.T) {
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || path.Dir(name) == "internal/bubble" {
			return err
		}
		source, err := os.ReadFile("../../" + name)
		if bytes.Contains(source, []byte("synctest.Test(")) {
			t.Errorf("%s: a bubble on several processors may crash under the race detector: use bubble.Test", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
