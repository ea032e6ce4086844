package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
)

// A Background holds the mix that runs beside a recipe, and the flag's text.
type Background struct {
	text string // "" for none
	workloads.Background
}

// backgroundUsage names all keys.
const backgroundUsage = "`KEY=VALUE,...` of a mix that runs in the background of the recipe: clients (16), reads (10 of 11), keys (100), size (1k), watchers (0), and rate in operations per second (unlimited)"

func backgroundKeys() []string {
	return []string{"clients", "reads", "keys", "size", "watchers", "rate"}
}

// check parses the text.
func (b *Background) check() error {
	if b.text == "" {
		return nil
	}
	size, _ := parseSize(defaultSize)
	b.Background = load.Background(16, 0, workloads.MixSettings{Reads: defaultReads, Keys: 100, Size: size})
	given := map[string]bool{}
	for word := range strings.SplitSeq(b.text, ",") {
		key, value, _ := strings.Cut(word, "=")
		if given[key] {
			return cli.Flagf("background", ": %s is given twice", key)
		}
		given[key] = true
		if err := b.take(key, value); err != nil {
			return cli.Flagf("background", ": %v", err)
		}
	}
	return nil
}

// take parses one key and its value.
func (b *Background) take(key, value string) (err error) {
	number, numeric := strconv.ParseFloat(value, 64)
	want := func(right bool, what string) error {
		if !right {
			return fmt.Errorf("%s=%s: want %s", key, value, what)
		}
		return nil
	}
	whole := numeric == nil && number == float64(int(number)) && number >= 1
	switch key {
	case "clients":
		b.Clients, err = int(number), want(whole && number <= mostKeys, "at least 1")
	case "keys":
		b.Mix.Keys, err = int(number), want(whole && number <= mostKeys, "1 to "+units.Count(mostKeys))
	case "watchers":
		none := numeric == nil && number == 0
		b.Mix.Watchers, err = int(number), want(none || whole && number <= mostKeys, "how many sessions only watch, 0 or more")
	case "reads":
		b.Mix.Reads, err = number, want(numeric == nil && number >= 0 && number <= 1, "a share between 0 and 1")
	case "rate":
		b.Rate, err = number, want(numeric == nil && number > 0 && number <= 1e9, "operations a second such as 5000")
	case "size":
		if b.Mix.Size, err = parseSize(value); err != nil {
			err = fmt.Errorf("%s=%s: %w", key, value, err)
		}
	default:
		err = suggest.Unknown("key", key, backgroundKeys())
	}
	return err
}

// plan describes the background. It returns "" if there is none.
func (b *Background) plan() string {
	if b.Clients == 0 {
		return ""
	}
	rate := "unlimited"
	if b.Rate > 0 {
		rate = units.Rate(b.Rate) + " operations/s"
	}
	return fmt.Sprintf("%s, %s on %s", cli.Counted(b.Clients, "session"), rate, cli.Counted(b.Mix.Keys, "znode"))
}

// setting returns the background as a result records it. It returns nil if there is none.
func (b *Background) setting() *results.Background {
	if b.Clients == 0 {
		return nil
	}
	return &results.Background{Clients: b.Clients, RatePerS: b.Rate, Keys: b.Mix.Keys, SizeBytes: b.Mix.Size, Watchers: b.Mix.Watchers,
		ReadRatio: results.ReadRatio{Asked: b.Mix.Reads}}
}

// furtherSessions returns how many sessions a run opens besides those of its clients.
func (f *Flags) furtherSessions() int {
	n := f.Mix.Watchers * f.Run.Groups
	if f.background.Clients > 0 {
		n += f.background.Clients + f.background.Mix.Watchers + 1 // and one for the setup
	}
	if p := f.Mix.preload; p.Nodes > 0 { // a session has at most one watch on a node
		n += (p.Watches + p.Nodes - 1) / p.Nodes
	}
	return n
}
