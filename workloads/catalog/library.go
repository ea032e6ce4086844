package catalog

import "github.com/stampede-bench/stampede/drivers"

// shipped makes what the session's client library ships of a recipe, nil if that
// is nothing.
func shipped[F any](recipe string) func(drivers.Librarian, string) F {
	return func(c drivers.Librarian, path string) F {
		form, _ := c.LibraryForm(recipe, path, 0).(F)
		return form
	}
}
