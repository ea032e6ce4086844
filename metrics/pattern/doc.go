// Package pattern counts what programs do at nodes whose paths have one pattern, and says which recipe in which form
// that is.
//
// A [Table] has a [Pattern] for each path pattern: names that differ only in numbers and random identifiers are one. Whoever
// follows the sessions adds to its counts: requests, notifications, and what each session did after one. [Table.Places]
// then makes rows of them. Patterns that belong to one form are one row, such as the nodes of a lock and the node above
// them.
package pattern
