// Package systems lists which form of a recipe well-known systems and libraries use, with
// the source that was read. The cost of a row is that of its form in package costmodel.
package systems
