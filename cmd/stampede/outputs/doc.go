// Package outputs writes a result in each format that was asked for, to files or to standard output.
package outputs
