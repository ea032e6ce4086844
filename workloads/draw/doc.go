// Package draw chooses the nodes of raw operations, and the sizes of their values, at random by a distribution.
package draw
