package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/results/units"
)

// elections counts the elections of three native servers that are under full load for a long time: a
// leader that is slow because it is busy must not be replaced. A request that fails is an error.
func elections(ctx context.Context, b *bench) ([]row, error) {
	s, err := b.startEnsemble(ctx, nativeEnsemble)
	if err != nil {
		return nil, err
	}
	if _, err := awaitLeader(ctx, s); err != nil {
		return nil, err
	}
	before, err := epoch(ctx, s)
	if err != nil {
		return nil, err
	}
	conns, err := dial(ctx, s, b.connections, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	sets, took, err := repeat(ctx, conns, b.outstanding, b.loaded, set)
	if err != nil {
		return nil, err
	}
	after, err := epoch(ctx, s)
	if err != nil {
		return nil, err
	}
	unknown := math.NaN()
	length := units.Duration(b.loaded)
	return []row{
		{"elections in " + length + " of sets", comparison{float64(after - before), unknown, unknown}, whole, exactly(0), ofServers},
		{"sets of 1 KB in these " + length, comparison{float64(sets) / took.Seconds(), unknown, unknown}, perSecond, none, ofServers},
	}, nil
}

// epoch returns the highest epoch of all members, which each election raises: the upper half of the
// zxid.
func epoch(ctx context.Context, s drivers.Ensemble) (highest int64, err error) {
	var addresses []string
	for _, m := range s.Members() {
		addresses = append(addresses, m.Address())
	}
	e, err := ensemble.New(ensemble.Config{Servers: addresses})
	if err != nil {
		return 0, err
	}
	for _, address := range e.Servers {
		text, err := e.Word(ctx, address, "srvr")
		if err != nil {
			return 0, err
		}
		zxid, err := parseZxid(text)
		if err != nil {
			return 0, fmt.Errorf("%s: srvr: %w", address, err)
		}
		highest = max(highest, zxid>>32)
	}
	return highest, nil
}

// parseZxid returns the zxid in the answer to srvr.
func parseZxid(text string) (int64, error) {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "Zxid: "); found {
			return strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		}
	}
	return 0, fmt.Errorf("no zxid in %q", text)
}
