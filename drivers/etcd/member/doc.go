// Package member runs a member of an etcd cluster in this process.
package member
