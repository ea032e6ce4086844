package catalog

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// shipped returns a constructor for the client library's own form of a recipe.
// The constructor returns nil if the library ships no such form.
func shipped[F any](recipe string) func(drivers.Librarian, string) F {
	return func(c drivers.Librarian, path string) F {
		form, _ := c.LibraryForm(recipe, path, 0).(F)
		return form
	}
}

func shippedDoubleBarrier(c drivers.Librarian, path string, clients int) recipe.DoubleBarrier {
	barrier, _ := c.LibraryForm("double-barrier", path, clients).(recipe.DoubleBarrier)
	return barrier
}

// shippedQueue returns a constructor for the client library's own queue or
// priority queue. The items of these queues outlive their producers, so the
// constructor returns nil for any other mode.
func shippedQueue[F any](recipe string) func(drivers.Librarian, string, drivers.Mode) F {
	return func(c drivers.Librarian, items string, mode drivers.Mode) (queue F) {
		if mode == 0 {
			queue = shipped[F](recipe)(c, items)
		}
		return queue
	}
}
