// Package codec encodes transactions, and trees as sections of a snapshot, for logs.
package codec
