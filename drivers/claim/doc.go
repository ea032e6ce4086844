// Package claim is the claim that a client stakes: an ephemeral node that stands
// for it, as a place in a line or as the one node that everybody wants.
//
// A recipe makes such a node and takes it away again, and in between the reply
// of either write may be lost while the session lives on, or the caller may give
// up. A [Claim] sees to it that whatever is lost, one Create makes one node, one
// Remove removes it, and nothing is left behind.
//
// [Put] and [Take] do the same for an item: a node that one client makes and
// whoever is first removes.
package claim
