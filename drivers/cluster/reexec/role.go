package reexec

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

	"github.com/stampede-bench/stampede/internal/suggest"
)

// A Role is the function that a child process runs. It calls ready once, with the address that it
// serves at. It returns when the context ends: when the parent has ended or calls Stop. It must not
// use standard output, which carries the address to the parent.
type Role func(ctx context.Context, args []string, ready func(addr string)) error

// Variable names the role in a child's environment.
const Variable = "STAMPEDE_CHILD"

// grace is how long a role may take to clean up, even on a busy machine. Stop waits a little
// longer, so that the child gives up first.
const grace = 30 * time.Second

// Dispatch runs the role of this process and exits. It returns immediately if the process is not a
// child.
func Dispatch(roles map[string]Role) {
	name, isChild := os.LookupEnv(Variable)
	if !isChild {
		return
	}
	os.Unsetenv(Variable) // processes that the role starts are not in the role
	role, known := roles[name]
	if !known {
		say("error", suggest.Unknown("role", name, slices.Sorted(maps.Keys(roles))).Error())
		os.Exit(1)
	}
	if err := play(role, os.Args[1:]); err != nil {
		say("error", err.Error())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play runs the role until it returns. The role must return soon after the parent has ended or a
// signal has arrived.
func play(role Role, args []string) error {
	// The parent's ends of stdout and stderr close when the parent ends. A write to them must not
	// kill a child that still has to clean up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := signal.NotifyContext(context.Background(),
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin) // returns when the parent has ended
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

// say writes one line to the parent.
func say(word, text string) {
	fmt.Fprintln(os.Stdout, word, strings.Join(strings.Fields(text), " "))
}
