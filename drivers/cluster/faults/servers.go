package faults

import (
	"context"
	"errors"
)

// server performs a step on one server and records its state.
func (d *doing) server(ctx context.Context, step Step, i int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.Servers[i]
	d.hurt[i]++
	switch step.Verb {
	case Kill:
		d.down[i] = Kill
		return s.Kill()
	case Stop:
		d.down[i] = Stop
		return s.Stop()
	case Continue:
		delete(d.down, i)
		return s.Continue()
	case FillDisk:
		d.full[i] = true
		return s.FillDisk()
	case Isolate:
		d.apart[i] = true
		return s.Isolate()
	case Delay:
		d.slow[i] = true
		return s.Delay(step.By)
	case Throttle:
		d.slow[i] = true
		return s.Throttle(step.To)
	case Restore:
		delete(d.apart, i)
		delete(d.slow, i)
		return s.Restore()
	}
	if d.down[i] != Kill {
		if err := s.Kill(); err != nil {
			return err
		}
	}
	delete(d.down, i)
	delete(d.full, i)
	return s.Restart(ctx)
}

func (d *doing) hurts(i int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hurt[i]
}

// takesPart reports whether a server runs, can write and is not isolated. An isolated leader may
// report that it leads until it notices the isolation.
func (d *doing) takesPart(i int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, down := d.down[i]
	return !down && !d.full[i] && !d.apart[i]
}

// restoreAll restores all servers and clients. It continues after an error.
func (d *doing) restoreAll(ctx context.Context) error {
	var errs []error
	for i := range d.Servers {
		switch {
		case d.down[i] == Kill || d.full[i]:
			errs = append(errs, d.server(ctx, Step{Verb: Restart}, i))
		case d.down[i] == Stop:
			errs = append(errs, d.server(ctx, Step{Verb: Continue}, i))
		}
		if d.apart[i] || d.slow[i] {
			errs = append(errs, d.server(ctx, Step{Verb: Restore}, i))
		}
	}
	for _, c := range d.Clients {
		c.Link().Restore()
		c.Thaw()
	}
	return errors.Join(errs...)
}
