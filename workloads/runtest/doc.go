// Package runtest contains plans and services for tests of runs, which last no real time.
package runtest
