package drivers

// A Librarian is a Conn whose client library ships recipes of its own.
type Librarian interface {
	Conn
	// LibraryForm is the library's form of a recipe by name ("lock",
	// "election", "queue") at a path, for so many clients where the recipe has
	// to know. It has the methods that package workloads asks of the recipe's
	// forms, under the same contract but for what its comment says; nil if the
	// library ships none. A Conn has at most one of a recipe per path.
	LibraryForm(recipe, path string, clients int) any
}
