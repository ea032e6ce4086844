// Package parallel makes many calls, a limited number at a time.
package parallel

import "golang.org/x/sync/errgroup"

// limit is how many calls ForEach makes at the same time: enough to open sessions quickly, too
// few to be a connection storm.
const limit = 32

// ForEach calls f for 0 to n−1, up to limit calls at a time, and returns the first error. It
// makes all calls, also after an error.
func ForEach(n int, f func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error { return f(i) })
	}
	return g.Wait()
}
