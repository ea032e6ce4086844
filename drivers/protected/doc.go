// Package protected makes and removes the ephemeral node that stands for a client: a place in
// a line, or the one node that all clients want.
//
// While a recipe makes such a node or removes it, the reply may be lost although the
// session lives on, or the caller may give up. A [Claim] guarantees that, whatever is
// lost, one Create makes one node, one Remove removes it, and nothing is left behind.
// Curator calls this protection.
//
// [Put] and [Take] do the same for an item: a node that one client makes, and that the
// first client to take it removes.
package protected
