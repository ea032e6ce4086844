package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics/recovery"
)

// A prober can change a node of a service and leave its data as it was.
type prober interface {
	Read(ctx context.Context, path string) error
	Rewrite(ctx context.Context, path string) (pos int64, err error)
}

// A probing changes a node while a program is broken.
type probing struct {
	*breaking
	path string

	making sync.WaitGroup
	mu     sync.Mutex
	failed error // of the first change that could not be made
}

// keepsAway are the verbs after which a client comes back by a new connection, at once. It waits until the change was made.
var keepsAway = map[faults.Verb]bool{faults.Expire: true, faults.Cut: true, faults.Move: true}

// A change is given up after longestChange, and after shortestChange while clients wait for it.
const longestChange, shortestChange = 30 * time.Second, 2 * time.Second

// strike strikes, and has the change be made afterwards.
func (p *probing) strike(ctx context.Context, f faults.Fault, strike func() error) error {
	within, verb := longestChange, f.Steps[0].Verb
	if kinds[verb] == "" {
		return strike()
	}
	admit := func() {}
	if keepsAway[verb] {
		within, admit = shortestChange, p.Admit
		p.Bar()
	}
	if err := strike(); err != nil {
		admit()
		return err
	}
	p.making.Go(func() {
		defer admit()
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		if err := p.change(ctx); err != nil {
			p.judge.Unprobed()
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.failed == nil {
				p.failed = fmt.Errorf("--probe %s: not changed after %q: %w", p.path, f, err)
			}
		}
	})
	return nil
}

// change changes the node. It tries again while the service does not answer.
func (p *probing) change(ctx context.Context) error {
	for {
		at := time.Now()
		pos, err := p.service.Rewrite(ctx, p.path)
		switch {
		case err == nil:
			p.judge.Probe(recovery.Probe{At: at, Path: p.path, Pos: pos})
			return nil
		case errors.Is(err, drivers.ErrNoNode), errors.Is(err, drivers.ErrRefused):
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// end returns when no change is being made any more, with the error of those that could not be.
func (p *probing) end() error {
	p.making.Wait()
	return p.failed
}

// findProbe returns an error unless a given service has the node. A service that the command starts gets its nodes from the
// program.
func (f *observeFaults) findProbe(ctx context.Context, w tapped) error {
	if f.probe == "" || w.service != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shortestChange)
	defer cancel()
	err := w.broken.service.Read(ctx, f.probe)
	if errors.Is(err, drivers.ErrNoNode) {
		return cli.Flagf("probe", "%s: %w", f.probe, err)
	}
	if err != nil {
		return fmt.Errorf("--probe %s: %w", f.probe, err)
	}
	return nil
}
