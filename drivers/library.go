package drivers

// A Librarian is a Conn whose client library ships recipes.
type Librarian interface {
	Conn
	// LibraryForm returns the library's form of a recipe by name ("lock", "election",
	// "queue") at a path, for this number of clients where the recipe needs to know it.
	// The form has the methods that package workloads requires of the recipe's forms,
	// under the same contract except for what its comment says. LibraryForm returns nil
	// if the library ships none. A Conn has at most one form of a recipe per path.
	LibraryForm(recipe, path string, clients int) any
}
