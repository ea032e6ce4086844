// Package plan holds what the planted programs have in common: the flags that decide how a client comes back
// after a fault, and when it tries to connect.
package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// The values of the flags that choose a behaviour.
const (
	Again   = "again"
	Never   = "never"
	Twice   = "twice"
	Step    = "step"
	Jitter  = "jitter"
	Recover = "recover"
	GiveUp  = "give-up"
	Dead    = "dead"
)

// A Plan is what the clients of a planted program do. The documentation of examples/break says what each value
// means after the end of a session and after a broken connection.
type Plan struct {
	Address  string // host:port, or several, separated by commas
	Sessions int
	Timeout  time.Duration // of a session
	For      time.Duration // from the start to the end of the program
	Register string        // Again, Never or Twice
	Watch    string        // Again or Never
	Retry    string        // Step or Jitter
	OnExpiry string        // Recover, GiveUp or Dead
	Writes   int           // of each client
	Repeat   bool          // a write whose reply was lost, without a look whether it was done
}

// Main runs a planted program and returns its exit code: 0, 1 if the program failed, or 2 if its arguments are
// invalid. It prints nothing but errors.
func Main(name string, run func(Plan) error) int {
	p, err := parse(name, os.Args[1:])
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 2
	}
	if err := run(p); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// parse reads the arguments. The address may also be in the environment variable ZK_CONNECT.
func parse(name string, args []string) (p Plan, err error) {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() { fmt.Printf("Usage of %s:\n%s", name, f.FlagUsages()) }
	f.SetOutput(io.Discard) // Main prints the error, once
	f.StringVar(&p.Address, "address", os.Getenv("ZK_CONNECT"), "`HOST:PORT` of the service (default: $ZK_CONNECT)")
	f.IntVar(&p.Sessions, "sessions", 6, "`NUMBER` of clients, each with a session of its own")
	f.DurationVar(&p.Timeout, "timeout", 4*time.Second, "session time-out")
	f.DurationVar(&p.For, "for", 15*time.Second, "how long the program runs")
	choose := func(value *string, name, what string, valid ...string) {
		*value = valid[0]
		f.Var(&choice{value, valid}, name, what+": "+list(valid))
	}
	choose(&p.Register, "register", "register after a fault", Again, Never, Twice)
	choose(&p.Watch, "watch", "watch the configuration after a fault", Again, Never)
	choose(&p.Retry, "retry", "when the clients connect again", Jitter, Step)
	choose(&p.OnExpiry, "on-expiry", "what a client does when its session has ended", Recover, GiveUp, Dead)
	f.IntVar(&p.Writes, "writes", 0, "`NUMBER` of sequential creates of each client")
	f.BoolVar(&p.Repeat, "repeat", false, "repeat a create whose reply was lost, without a look whether it was done")
	if err := f.Parse(args); err != nil {
		return p, err
	}
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: all settings are flags", f.Arg(0))
	case p.Address == "":
		err = errors.New("no address: set --address or ZK_CONNECT to HOST:PORT")
	case p.Sessions < 1:
		err = fmt.Errorf("invalid --sessions %d: must be at least 1", p.Sessions)
	case p.Timeout < time.Second:
		err = fmt.Errorf("invalid --timeout %s: must be at least 1s", p.Timeout)
	case p.For <= 0:
		err = fmt.Errorf("invalid --for %s: must be more than 0s", p.For)
	case p.Writes < 0:
		err = fmt.Errorf("invalid --writes %d: must be at least 0", p.Writes)
	}
	return p, err
}

// Servers returns the addresses of the service.
func (p Plan) Servers() []string { return strings.Split(p.Address, ",") }

// WriteAt returns when, after the start, a client does its write i of Writes: they divide the time evenly.
func (p Plan) WriteAt(i int) time.Duration {
	return p.For * time.Duration(i+1) / time.Duration(cmp.Or(p.Writes, 1)+1)
}

// A choice is a flag with few valid values.
type choice struct {
	value *string
	valid []string
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "WORD" }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.valid, value) {
		return fmt.Errorf("must be %s", list(c.valid))
	}
	*c.value = value
	return nil
}

// list writes values as "a, b or c".
func list(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
