// Package store keeps the nodes of a control plane. It has only reads and writes that are repeated after a lost
// connection until they are answered, so that neither a short break nor the loss of one server ends a run.
package store
