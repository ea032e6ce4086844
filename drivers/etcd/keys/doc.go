// Package keys maps the paths of nodes to keys of etcd.
package keys
