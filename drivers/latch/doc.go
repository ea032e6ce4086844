// Package latch holds the calls of a session back while they must not be sent.
package latch
