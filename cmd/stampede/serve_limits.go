package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/suggest"
)

const (
	limitConnections = "max-connections-per-address"
	limitSessions    = "max-sessions"
	leastTimeout     = "min-session-timeout"
	mostTimeout      = "max-session-timeout"
	juteMaxBuffer    = "jute-maxbuffer"
	limitWords       = "words"
	allWords         = "all"
)

// reachableConnections is the default of ZooKeeper's maxClientCnxns. It applies to servers that
// clients on other machines can reach.
const reachableConnections = 60

// largestBuffer is the highest limit on a request's size that the flag accepts, in bytes.
const largestBuffer = 64 << 20

// reachableWords lists the four-letter words that such a server answers by default.
func reachableWords() []string { return []string{"ruok", "srvr"} }

// A serveLimits holds the limits that stampede serve imposes on clients.
type serveLimits struct {
	connections int
	sessions    int
	min, max    time.Duration
	packet      int
	words       []string
	changed     func(flag string) bool
}

func (l *serveLimits) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&l.connections, limitConnections, 0, "`N` connections that one address may have, 0 for any number (default: 60 where --listen or --tls-listen is beyond this machine)")
	flags.IntVar(&l.sessions, limitSessions, 0, "`N` sessions that may be open, 0 for any number")
	flags.DurationVar(&l.min, leastTimeout, 0, "shortest session time-out (default: 2 ticks)")
	flags.DurationVar(&l.max, mostTimeout, 0, "longest session time-out (default: 20 ticks)")
	flags.IntVar(&l.packet, juteMaxBuffer, wire.MaxPacket, "largest request in `BYTES`")
	flags.StringSliceVar(&l.words, limitWords, nil, "four-letter `WORDS` to answer, with commas between them, or all (default: all, and srvr,ruok where --listen or --tls-listen is beyond this machine)")
	for _, name := range []string{limitConnections, limitSessions, leastTimeout, mostTimeout, juteMaxBuffer} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	cli.Complete(cmd, limitWords, func() []string { return append([]string{allWords}, fourletter.Names()...) })
}

// isSet reports whether a flag has a value from the command line or its variable.
func isSet(flags *pflag.FlagSet) func(name string) bool {
	return func(name string) bool { return cli.WasGiven(flags.Lookup(name)) }
}

func (l *serveLimits) check(tick time.Duration) error {
	if l.connections < 0 {
		return cli.Usagef("--%s %d: must be 0 or more", limitConnections, l.connections)
	}
	if l.sessions < 0 {
		return cli.Usagef("--%s %d: must be 0 or more", limitSessions, l.sessions)
	}
	if err := spec.ThisMachine().DescriptorsFor(limitSessions, int64(l.sessions), 0); err != nil {
		return err
	}
	if l.packet < 1<<10 || l.packet > largestBuffer {
		return cli.Usagef("--%s %d: must be between %d and %d", juteMaxBuffer, l.packet, 1<<10, largestBuffer)
	}
	for _, word := range l.words {
		if word != allWords && !slices.Contains(fourletter.Names(), word) {
			return cli.Usagef("--%s: %w", limitWords, suggest.Unknown("word", word, append([]string{allWords}, fourletter.Names()...)))
		}
	}
	return l.checkTimeouts(tick)
}

func (l *serveLimits) checkTimeouts(tick time.Duration) error {
	if l.min < 0 || l.max < 0 {
		return cli.Usagef("--%s and --%s: must not be negative", leastTimeout, mostTimeout)
	}
	if shortest, longest := cmp.Or(l.min, 2*tick), cmp.Or(l.max, 20*tick); shortest > longest {
		return cli.Usagef("--%s: the shortest session time-out, %v, is longer than the longest, %v", leastTimeout, shortest, longest)
	}
	return nil
}

// options returns the server's limits. Reachable says whether clients on other machines can reach
// it, which changes the defaults.
func (l *serveLimits) options(reachable bool) server.Options {
	o := server.Options{MaxPerHost: l.connections, MaxSessions: l.sessions, MinTimeout: l.min, MaxTimeout: l.max, MaxPacket: l.packet}
	if reachable && !l.changed(limitConnections) {
		o.MaxPerHost = reachableConnections
	}
	switch {
	case reachable && !l.changed(limitWords):
		o.Words = reachableWords()
	case l.changed(limitWords) && !slices.Contains(l.words, allWords):
		o.Words = append([]string{}, l.words...)
	}
	return o
}
