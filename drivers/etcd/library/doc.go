// Package library makes the forms of recipes that etcd's client library ships, in its packages
// concurrency and experimental/recipes, into forms of stampede. The forms run on the lease and
// the connection of a session.
package library
