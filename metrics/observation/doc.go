// Package observation holds what was found by observing other programs' traffic, a Report: data, as a file of
// results keeps it, and what follows from that alone. Package observe makes it.
package observation
