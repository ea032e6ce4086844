// Package stats counts what a server and its connections do.
package stats
