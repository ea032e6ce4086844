package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/recipes"
)

// TestSleepingHolder stops a holder's process for longer than its session timeout. The
// effect is the same as when a run freezes a client: the next client gets the lock, while
// the stopped holder believes that it holds the lock until it wakes and notices the loss.
// Only the fencing token distinguishes the two.
func TestSleepingHolder(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range []string{"native:", "zookeeper:", "etcd:"} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			s := backendtest.Own(t, url)
			c, err := s.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			dir := fmt.Sprintf("/sleepers-lock-%d", time.Now().UnixNano())
			if _, err := c.Create(t.Context(), dir, nil, 0); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "noticed")
			p, err := reexec.Start(t.Context(), "sleeper", url+"//"+s.(drivers.Ensemble).Members()[0].Address(), dir, file)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop()
			first, err := strconv.ParseInt(p.Addr(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			lock := recipes.NewLock(c, dir)
			_, err = lock.Acquire(t.Context())
			granted := time.Now()
			if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if second := lock.Token(); second <= first {
				t.Errorf("the sleeper's token is %d, that of the next %d: a resource could not tell them apart", first, second)
			}
			<-p.Done()
			if noticed := noticedAt(t, file); !noticed.After(granted) {
				t.Errorf("the sleeper knew at %v, before the next was granted the lock at %v", noticed, granted)
			}
		})
	}
}

// sleeper is the role of a process that acquires the lock at a path of a service, reports
// its token, and writes to a file the time at which it notices that it has lost the lock.
func sleeper(ctx context.Context, args []string, ready func(string)) error {
	target, err := backends.Parse(args[0])
	if err != nil {
		return err
	}
	s, err := target.Open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := s.Dial(ctx, drivers.Options{SessionTimeout: 4 * time.Second})
	if err != nil {
		return err
	}
	defer c.Close()
	lock := recipes.NewLock(c, args[1])
	held, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	ready(fmt.Sprint(lock.Token()))
	<-held.Done()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return os.WriteFile(args[2], []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), 0o600)
}

func noticedAt(t *testing.T, file string) time.Time {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, ns)
}
