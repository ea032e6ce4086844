// Versus compares the native server with Apache ZooKeeper: one server of each
// kind, each a process of its own that has every write on disk before it
// acknowledges it, both asked by the same client. Where there is something to
// repeat, the two are measured by turns, A B B A, and the ratio is the median of
// the rounds' ratios. It ends with one table, which says of each goal whether it
// is met.
//
//	make bench-servers
package main
