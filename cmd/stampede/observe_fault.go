package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/drivers/traffic/targets"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results/units"
)

// An observeFaults holds the flags of stampede observe that break the program's sessions and connections.
type observeFaults struct {
	texts    []string
	nemesis  time.Duration
	probe    string // path of a node
	seed     uint64
	schedule faults.Schedule
	drawn    int // the last faults of the schedule are random

	changed func(string) bool
}

func (f *observeFaults) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "fault", nil, "`FAULT` to inject: a preset such as expiry, or 'at=3s expire clients=all'; repeatable; see stampede help faults")
	flags.DurationVar(&f.nemesis, "nemesis", 0, "mean `TIME` between random faults of clients, drawn from the seed")
	flags.StringVar(&f.probe, "probe", "", "change the node of this `PATH` during each fault, to see which sessions notice: its data is written to it once more")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every random choice (default: a new one, which is printed)")
	f.changed = flags.Changed
}

func (f *observeFaults) given() bool { return len(f.texts) > 0 || f.changed("nemesis") }

// checkProbe checks the path as far as that is possible without a service.
func (f *observeFaults) checkProbe(scheme string) error {
	switch {
	case !f.changed("probe"):
		return nil
	case !f.given():
		return cli.Flagf("probe", "without --fault: a change shows something only while a program is broken")
	case f.probe == "", scheme != "etcd" && (!strings.HasPrefix(f.probe, "/") || len(f.probe) > 1 && strings.HasSuffix(f.probe, "/")):
		return cli.Flagf("probe", "%q: want the path of a node, such as /app/config", f.probe)
	}
	return nil
}

// longestNemesis is how long random faults come to a command.
const longestNemesis = time.Hour

// check parses the faults, checks that they are possible, and returns the thresholds of presets. length is that of
// the observation, 0 if it is not known.
func (f *observeFaults) check(target backends.Target, length time.Duration) (thresholds []string, err error) {
	if f.seed == 0 {
		f.seed = rand.Uint64N(1 << 32)
	}
	if err := f.checkProbe(target.Scheme()); err != nil {
		return nil, err
	}
	f.schedule, f.drawn = nil, 0
	powers := f.powers(target, length)
	for _, text := range f.texts {
		s, more, err := faults.Expand(text)
		if err != nil {
			return nil, cli.Usagef("--%v", err)
		}
		switch err := s.Check(powers); {
		case more != nil && s.BreaksLeader() && powers.Servers == 1:
			return nil, cli.Usagef("--fault %s: %s is one server, and no other can lead: say servers=3", text, powers.Service)
		case err != nil && more != nil:
			return nil, cli.Usagef("--fault %s: %v", text, err)
		case err != nil:
			return nil, cli.Usagef("--%v", err)
		}
		f.schedule, thresholds = append(f.schedule, s...), append(thresholds, more...)
	}
	slices.Sort(thresholds)
	if !f.changed("nemesis") {
		return slices.Compact(thresholds), nil
	}
	if err := cli.CheckDuration("nemesis", f.nemesis, 100*time.Millisecond); err != nil {
		return nil, err
	}
	if powers.Window == 0 {
		powers.Window = longestNemesis
	}
	powers.Servers = 0
	random := faults.Nemesis(f.seed, powers, f.nemesis)
	f.schedule, f.drawn = append(f.schedule, random...), len(random)
	return slices.Compact(thresholds), nil
}

// powers returns what faults can break.
func (f *observeFaults) powers(target backends.Target, length time.Duration) faults.Powers {
	p := faults.Powers{Service: target.String(), Window: length, Program: true, Members: len(target.Servers()), Etcd: target.Scheme() == "etcd", OwnDisks: disk.Possible() == nil}
	if !target.Given() {
		servers, durable := target.Started()
		p.Servers, p.Members, p.Forgets, p.Disks, p.Divisible = servers, servers, !durable, target.FillsDisks(), servers > 1
	}
	return p
}

// prepared returns the target, opened so that the faults are possible.
func (f *observeFaults) prepared(target backends.Target) (backends.Target, error) {
	if !f.given() || target.Given() {
		return target, nil
	}
	return target.WithOptions(backends.Options{Divisible: f.schedule.Divides(), OwnDisks: f.schedule.HangsDisks()})
}

// lines returns the faults in their text form.
func (f *observeFaults) lines() (all []string) {
	for _, one := range f.schedule {
		all = append(all, one.String())
	}
	return all
}

// mostDrawn is how many random faults a plan shows: there may be thousands.
const mostDrawn = 5

// plan returns the rows of a plan.
func (f *observeFaults) plan() (rows [][]string) {
	if !f.given() {
		return nil
	}
	lines, more := f.lines(), max(f.drawn-mostDrawn, 0)
	for _, line := range lines[:len(lines)-more] {
		rows = append(rows, []string{"fault", line})
	}
	if more > 0 {
		rows = append(rows, []string{"", "and " + units.CountOf(int64(more), "more random fault") + "; -o json=FILE of the observation has all"})
	}
	rows = append(rows, []string{"seed", strconv.FormatUint(f.seed, 10)})
	if f.probe != "" {
		rows = append(rows, []string{"probe", f.probe})
	}
	return rows
}

// A breaking is an observation whose program is broken.
type breaking struct {
	*targets.Program
	judge   *recovery.Analysis
	service prober
	etcd    *clientv3.Client // nil if the service is none
}

// newBreaking makes the clients of servers targets of faults.
func newBreaking(scheme string, servers []string, encryption func(server string) *tls.Config) (b *breaking, err error) {
	b = &breaking{judge: recovery.New(protocolOf(scheme).Name)}
	b.judge.Ended = owner.Ended
	if scheme != "etcd" {
		service := targets.Sessions{Servers: servers, Dial: func(ctx context.Context, server string) (net.Conn, error) {
			if c := encryption(server); c != nil {
				return (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", server)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", server)
		}}
		b.service, b.Program = service, targets.New(protocolOf(scheme), service)
		b.Received, b.Lost = b.judge.Received, b.judge.Lost
		return b, nil
	}
	b.etcd, err = clientv3.New(clientv3.Config{Endpoints: servers, TLS: encryption(servers[0]), Logger: zap.NewNop()})
	service := targets.Leases{Client: b.etcd}
	b.service, b.Program = service, targets.New(protocolOf(scheme), service)
	b.Received, b.Lost = b.judge.Received, b.judge.Lost
	return b, err
}

func (b *breaking) close() {
	b.Program.Close()
	if b.etcd != nil {
		b.etcd.Close()
	}
}

// begin injects the faults until the returned function is called, which returns an error if one could not be done.
func (b *breaking) begin(ctx context.Context, f observeFaults, service drivers.Ensemble, say func(string)) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	on := faults.Subjects{Program: b, Seed: f.seed}
	if service != nil {
		on.Servers = service.Members()
	}
	probes := &probing{breaking: b, path: f.probe}
	if f.probe != "" {
		on.Strike = func(f faults.Fault, strike func() error) error { return probes.strike(ctx, f, strike) }
	}
	done := make(chan error, 1)
	go func() {
		done <- f.schedule.Do(ctx, on, func(d faults.Done) {
			say(d.What)
			b.report(f.schedule[d.Fault], d)
		})
	}()
	return func() error {
		cancel()
		return errors.Join(<-done, probes.end())
	}
}

// refused reports a connection that did not reach a server to the judge: the program has tried.
func (b *breaking) refused(c traffic.Connection, by traffic.Process) {
	t := b.judge.Open(c)
	t.Owner(by)
	t.Close(c.At)
}

// kinds are what verbs do to sessions. Those that only undo what others do are none.
var kinds = map[faults.Verb]recovery.Kind{
	faults.Expire: recovery.Expired, faults.Cut: recovery.Disconnected, faults.Silence: recovery.Disconnected, faults.Move: recovery.Disconnected,
	faults.Lose: recovery.LostReply, faults.Delay: recovery.Delayed, faults.Throttle: recovery.Delayed, faults.Hold: recovery.Delayed,
	faults.Kill: recovery.ServerFailed, faults.Stop: recovery.ServerFailed, faults.Restart: recovery.ServerFailed, faults.Isolate: recovery.ServerFailed,
	faults.FillDisk: recovery.ServerFailed, faults.HangDisk: recovery.ServerFailed,
	faults.CancelWatch: recovery.WatchCanceled, faults.CompactWatch: recovery.WatchCompacted, faults.BreakStream: recovery.StreamBroken,
}

// report reports a step to the judge: the first one of a fault, which lasts until its last one.
func (b *breaking) report(f faults.Fault, d faults.Done) {
	kind := kinds[d.Verb]
	if d.Step > 0 || kind == "" {
		return
	}
	of := recovery.Fault{At: d.Began, What: d.What, Kind: kind}
	if length := f.Length(); length > 0 {
		of.Until = d.Began.Add(length)
	}
	if len(d.Servers) == 0 {
		of.Sessions = []int64{} // not all: it may have hit none
	}
	for _, hit := range d.Hits {
		of.Watches = append(of.Watches, hit.Watches...)
		if hit.Session != 0 {
			of.Sessions = append(of.Sessions, hit.Session)
		} else {
			of.Clients = append(of.Clients, hit.Addresses...)
		}
	}
	b.judge.Fault(of)
}

// both gives what it observes to two observers.
type both struct{ first, second traffic.Observer }

func (b both) Open(c traffic.Connection) traffic.Tap {
	return bothTaps{b.first.Open(c), b.second.Open(c)}
}

func (b both) Missed(u traffic.Undecoded) { b.first.Missed(u); b.second.Missed(u) }

type bothTaps struct{ first, second traffic.Tap }

func (t bothTaps) Session(at time.Time, s traffic.Session) {
	t.first.Session(at, s)
	t.second.Session(at, s)
}
func (t bothTaps) Message(at time.Time, m drivers.Message) {
	t.first.Message(at, m)
	t.second.Message(at, m)
}
func (t bothTaps) Gap(at time.Time, bytes int64, cause traffic.Cause) {
	t.first.Gap(at, bytes, cause)
	t.second.Gap(at, bytes, cause)
}
func (t bothTaps) Members(at time.Time, all []string) {
	t.first.Members(at, all)
	t.second.Members(at, all)
}
func (t bothTaps) Lease(at time.Time, id int64) { t.first.Lease(at, id); t.second.Lease(at, id) }
func (t bothTaps) Owner(p traffic.Process)      { t.first.Owner(p); t.second.Owner(p) }
func (t bothTaps) Close(at time.Time)           { t.first.Close(at); t.second.Close(at) }

// undone returns how many faults did not happen before the observation ended, with an error that says so. Random ones have no number.
func (f *observeFaults) undone(r recovery.Report) (n int64, err error) {
	want := 0
	for _, one := range f.schedule {
		if kinds[one.Steps[0].Verb] != "" {
			want += max(1, one.Times)
		}
	}
	if n := want - len(r.Outcomes); n > 0 && f.nemesis == 0 {
		return int64(n), fmt.Errorf("%d of %s did not happen: the observation ended before", n, units.Plural(want, "fault"))
	}
	return 0, nil
}

var errNoFaultsInCaptures = errors.New("and captured packets: faults need the proxy, which is in the path of the clients")

func presetNames() (names []string) {
	for _, p := range faults.Presets() {
		names = append(names, p.Name)
	}
	return names
}
