package child

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/internal/nearest"
)

// A Role is what a child process does. It calls ready once, with the address
// that it serves at, and returns when the context ends, which is when the
// parent is gone or wants it to stop. Standard output is not its own: it
// carries the address to the parent.
type Role func(ctx context.Context, args []string, ready func(addr string)) error

// Variable names the role in a child's environment.
const Variable = "STAMPEDE_CHILD"

// grace is how long a role may take to put its things away, also on a busy machine.
// Stop waits a little longer, so that the child gives up first.
const grace = 30 * time.Second

// Dispatch runs the role that this process was started in and exits. In a
// process that is nobody's child it returns at once.
func Dispatch(roles map[string]Role) {
	name, isChild := os.LookupEnv(Variable)
	if !isChild {
		return
	}
	os.Unsetenv(Variable) // what the role starts is not in the role
	role, known := roles[name]
	if !known {
		say("error", nearest.Unknown("role", name, slices.Sorted(maps.Keys(roles))).Error())
		os.Exit(1)
	}
	if err := play(role, os.Args[1:]); err != nil {
		say("error", err.Error())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play runs the role until it returns, which it must soon after the parent has
// gone or a signal has come.
func play(role Role, args []string) error {
	// The parent's end of stdout and stderr goes with the parent. Writing to
	// them must not kill a child that has yet to clean up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(context.Background(),
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin) // returns when the parent is gone
		cancel()
	}()
	context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() {
			fmt.Fprintf(os.Stderr, "still not done %v after the end\n", grace)
			os.Exit(1)
		})
	})
	return role(ctx, args, func(addr string) { say("ready", addr) })
}

// say tells the parent one line.
func say(word, text string) {
	fmt.Fprintln(os.Stdout, word, strings.Join(strings.Fields(text), " "))
}
