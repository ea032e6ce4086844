package catalog

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// shipped makes what the session's client library ships of a recipe, nil if that
// is nothing.
func shipped[F any](recipe string) func(drivers.Librarian, string) F {
	return func(c drivers.Librarian, path string) F {
		form, _ := c.LibraryForm(recipe, path, 0).(F)
		return form
	}
}

func shippedDoubleBarrier(c drivers.Librarian, path string, clients int) workloads.DoubleBarrier {
	barrier, _ := c.LibraryForm("double-barrier", path, clients).(workloads.DoubleBarrier)
	return barrier
}

// shippedQueue makes what the library ships of either kind of queue. Its items
// outlive their producers.
func shippedQueue[F any](recipe string) func(drivers.Librarian, string, drivers.Mode) F {
	return func(c drivers.Librarian, items string, mode drivers.Mode) (queue F) {
		if mode == 0 {
			queue = shipped[F](recipe)(c, items)
		}
		return queue
	}
}
