// Package etcd opens sessions with an etcd service through its client library.
package etcd
