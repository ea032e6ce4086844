// Package hosts gives a test several hosts on one machine. A [Host] is a network namespace, which has only
// the links that the test makes, and a time namespace, whose monotonic clock is wrong by a known time. It
// needs Linux and root. All that it makes is gone after the test.
package hosts
