package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
)

// Meet waits until n processes have come to the point, a name.
func (p *Plane) Meet(ctx context.Context, point string, n int) error {
	dir := barriers + "/" + point
	if err := p.create(ctx, dir, []byte(strconv.Itoa(n)), 0); err != nil && !errors.Is(err, drivers.ErrNodeExists) {
		return err
	}
	_, err := recipes.NewDoubleBarrier(p.conn, dir, n).Enter(ctx)
	return err
}

// StandIn enters all points whose names begin with the prefix in place of a process that is no longer a
// member, until the context ends, so that the others do not wait for that process.
func (p *Plane) StandIn(ctx context.Context, prefix string) error {
	var entered sync.WaitGroup
	defer entered.Wait()
	seen := map[string]bool{}
	for {
		var changed drivers.Wait
		all, err := p.conn.Children(ctx, barriers, changed.Fire)
		if err != nil {
			return err
		}
		for _, c := range all {
			if seen[c.Name] || !strings.HasPrefix(c.Name, prefix) {
				continue
			}
			seen[c.Name] = true
			n, err := p.sizeOf(ctx, c.Name)
			if err != nil {
				return err
			}
			entered.Go(func() { _ = p.Meet(ctx, c.Name, n) }) // the others may need it no longer
		}
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// sizeOf returns how many processes meet at a point that some have come to.
func (p *Plane) sizeOf(ctx context.Context, point string) (int, error) {
	text, _, err := p.conn.Get(ctx, barriers+"/"+point, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("read meeting point %s from the control plane: %q is not a number of processes", point, text)
	}
	return n, nil
}
